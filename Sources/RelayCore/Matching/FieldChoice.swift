/// Makes copies of one change for several partitions, each copy with only the fields that the
/// partition reads. Consecutive partitions that read the same fields share one copy.
struct FieldChoice {
  private let change: Change
  private let record: RecordChange?
  private var last: (names: [String], change: Change)?

  init(_ change: Change) {
    self.change = change
    if case .record(let record) = change.event { self.record = record } else { record = nil }
  }

  mutating func change(with fields: Interest.Fields) -> Change {
    guard let record, !record.fields.isEmpty else { return change }
    switch fields {
    case .all: return change
    case .ended: return change(with: [], of: record)
    case .named(let names): return change(with: names, of: record)
    }
  }

  private mutating func change(with names: [String], of record: RecordChange) -> Change {
    if let last, last.names == names { return last.change }
    var slim = record
    if names.isEmpty {
      slim.fields = []
    } else {
      slim.fields = names.compactMap { record.fields.place(of: $0) }.sorted().map {
        record.fields[$0]
      }
    }
    var change = change
    change.event = .record(slim)
    last = (names, change)
    return change
  }
}
