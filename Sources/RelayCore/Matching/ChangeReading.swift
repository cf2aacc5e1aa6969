/// A change as subscriptions look at it: its record's fields by name, system fields among them,
/// and the words of its texts, which are taken apart once, however many filters search them.
struct ChangeReading {
  let change: Change
  /// Nil: something befell the zone.
  let record: RecordChange?
  /// By field; nil: it is no text.
  private var words: [String: Set<String>?] = [:]

  init(_ change: Change) {
    self.change = change
    if case .record(let record) = change.event { self.record = record } else { record = nil }
  }

  /// The field's value; nil if the record has none.
  ///
  /// - Parameter operand: what it is going to be compared with. Record and user names are strings
  ///   or references, as the filter has it.
  func value(of field: String, for operand: FieldValue) -> FieldValue? {
    guard let record else { return nil }
    guard let system = SystemField(field) else { return record.value(of: field) }
    let found: FieldValue? =
      switch system {
      case .recordName: .string(record.name)
      case .changeTag: record.tag.map { .string($0) }
      default: record.value(of: field)
      }
    guard case .string(let name)? = found, operand.asksForReference else { return found }
    return .reference(recordName: name, zone: nil)
  }

  /// Words of a text or a list of texts; `self` is every text of the record.
  mutating func words(of field: String) -> Set<String>? {
    if let known = words[field] { return known }
    let found = findWords(of: field)
    words[field] = .some(found)
    return found
  }

  private func findWords(of field: String) -> Set<String>? {
    var found: Set<String> = []
    var isText = false
    for item in record?.fields ?? [] where SystemField(item.name) == nil {
      guard field == QueryRule.Filter.wholeRecord || item.name == field else { continue }
      if item.value.addWords(to: &found) { isText = true }
      if item.name == field { break }
    }
    return isText ? found : nil
  }
}

extension RecordChange {
  /// Where a producer names a field twice, the first one counts.
  func value(of field: String) -> FieldValue? { fields.first { $0.name == field }?.value }
}

extension FieldValue {
  fileprivate var asksForReference: Bool {
    switch self {
    case .reference: true
    case .list(let members): members.first?.kind == .reference
    default: false
    }
  }

  /// False: this is no text.
  fileprivate func addWords(to words: inout Set<String>) -> Bool {
    if case .string(let text) = self {
      SearchWords.add(text, to: &words)
      return true
    }
    guard let members = members(of: .string) else { return false }
    for case .string(let text) in members { SearchWords.add(text, to: &words) }
    return true
  }
}
