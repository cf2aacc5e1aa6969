import Foundation
import RelayCore

/// Decides whether a subscription should fire for a change: the rules of the core, written a second
/// time as plainly as possible, without the core's own matching.
enum MatchOracle {
  static func fires(_ subscription: Subscription, _ change: Change) -> Bool {
    guard case .query(let rule) = subscription.rule else {
      guard case .zone(let zone, let type) = subscription.rule else {
        guard case .database(let type) = subscription.rule else { return false }
        return change.zone.name != "_defaultZone" && concerns(change, type)
      }
      return zone == change.zone && concerns(change, type)
    }
    guard case .record(let record) = change.event, record.type == rule.recordType else {
      return false
    }
    let bit = record.verb == .created ? 1 : record.verb == .updated ? 2 : 4
    guard Int(rule.firesOn.rawValue) & bit != 0 else { return false }
    if rule.zone != nil && rule.zone != change.zone { return false }
    return rule.filters.filter { !passes($0, record, change.zone) }.isEmpty
  }

  private static func concerns(_ change: Change, _ type: String?) -> Bool {
    guard let type, case .record(let record) = change.event else { return true }
    return record.type == type
  }

  static func passes(_ filter: QueryRule.Filter, _ record: RecordChange, _ zone: ZoneID) -> Bool {
    var name = filter.comparator.name
    if name.hasSuffix("_TOKENS") { return searches(filter, record, all: name.contains("ALL")) }
    guard let found = field(filter, record, zone) else { return false }
    var isNegative = false
    if name.hasPrefix("NOT_") {
      isNegative = true
      name.removeFirst(4)
    }
    guard let answer = compare(name, found, filter, zone) else { return false }
    return answer != isNegative
  }

  private static func field(
    _ filter: QueryRule.Filter, _ record: RecordChange, _ zone: ZoneID
  ) -> FieldValue? {
    var found: FieldValue?
    switch filter.field {
    case "___recordID": found = .string(record.name)
    case "___etag": found = record.tag.map { .string($0) }
    default:
      for field in record.fields.reversed() where field.name == filter.field {
        found = field.value
      }
    }
    guard filter.field.hasPrefix("_"), case .string(let name)? = found else { return found }
    var sample = filter.value
    if case .list(let members) = sample, let first = members.first { sample = first }
    if case .reference = sample { return .reference(recordName: name, zone: zone) }
    return found
  }

  /// Whether the comparator's condition holds; `nil` if the two values cannot be compared.
  private static func compare(
    _ name: String, _ found: FieldValue, _ filter: QueryRule.Filter, _ zone: ZoneID
  ) -> Bool? {
    let value = filter.value
    let (left, right) = (spell(found, zone), spell(value, zone))
    switch name {
    case "EQUALS":
      if case .list(let a) = found, case .list(let b) = value {
        return Set((a + b).map(type)).count <= 1 ? left == right : nil
      }
      return type(found) == type(value) ? left == right : nil
    case "LESS_THAN": return order(found, value).map { $0 < 0 }
    case "LESS_THAN_OR_EQUALS": return order(found, value).map { $0 <= 0 }
    case "GREATER_THAN": return order(found, value).map { $0 > 0 }
    case "GREATER_THAN_OR_EQUALS": return order(found, value).map { $0 >= 0 }
    case "NEAR": return near(found, value, filter.distance)
    case "IN":
      guard case .list(let members) = value, type(found) != "list",
        members.allSatisfy({ type($0) == type(found) })
      else { return nil }
      return members.map { spell($0, zone) }.contains(left)
    case "BEGINS_WITH":
      guard case .string(let a) = found, case .string(let b) = value else { return nil }
      return Array(a.utf8).starts(with: Array(b.utf8))
    case "LIST_MEMBER_BEGINS_WITH":
      guard case .list(let members) = found, case .string = value,
        members.allSatisfy({ type($0) == "string" })
      else { return nil }
      return members.contains { compare("BEGINS_WITH", $0, filter, zone) == true }
    case "LIST_CONTAINS":
      guard type(value) != "list" else { return nil }
      return contains(found, [value], zone).map { $0 == [true] }
    case "LIST_CONTAINS_ALL", "LIST_CONTAINS_ANY":
      guard case .list(let wanted) = value, let there = contains(found, wanted, zone) else {
        return nil
      }
      return name.hasSuffix("ALL") ? !there.contains(false) : there.contains(true)
    default: fatalError("CloudKit has no comparator \(name)")
    }
  }

  /// For each wanted value, whether the list has it; `nil` if the values cannot be compared.
  private static func contains(
    _ found: FieldValue, _ wanted: [FieldValue], _ zone: ZoneID
  ) -> [Bool]? {
    guard case .list(let members) = found, Set((members + wanted).map(type)).count <= 1 else {
      return nil
    }
    let there = Set(members.map { spell($0, zone) })
    return wanted.map { there.contains(spell($0, zone)) }
  }

  private static func type(_ value: FieldValue) -> String { "\(value.kind)" }

  /// Equal bytes for equal values.
  private static func spell(_ value: FieldValue, _ zone: ZoneID) -> [UInt8] {
    switch value {
    case .reference(let name, let named):
      let target = named ?? zone
      return Array("reference \(name) \(target.name) \(target.owner.name)".utf8)
    case .list(let members): return Array(members.map { spell($0, zone) + [0] }.joined())
    default: return Array("\(value)".utf8)
    }
  }

  private static func order(_ left: FieldValue, _ right: FieldValue) -> Int? {
    func sign<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    switch (left, right) {
    case (.string(let a), .string(let b)):
      let (left, right) = (a.unicodeScalars.map(\.value), b.unicodeScalars.map(\.value))
      if left == right { return 0 }
      return left.lexicographicallyPrecedes(right) ? -1 : 1
    case (.int64(let a), .int64(let b)): return sign(a, b)
    case (.double(let a), .double(let b)): return sign(a, b)
    case (.timestamp(let a), .timestamp(let b)): return sign(a.milliseconds, b.milliseconds)
    case (.bytes(let a), .bytes(let b)):
      return sign(
        a.map { String(format: "%02x", $0) }.joined(), b.map { String(format: "%02x", $0) }.joined()
      )
    default: return nil
    }
  }

  private static func near(
    _ left: FieldValue, _ right: FieldValue, _ distance: Double?
  ) -> Bool? {
    guard case .location(let a, let b) = left, case .location(let c, let d) = right,
      let distance
    else { return nil }
    let degree = Double.pi / 180
    let cosine =
      sin(a * degree) * sin(c * degree)
      + cos(a * degree) * cos(c * degree) * cos((b - d) * degree)
    return acos(max(-1, min(1, cosine))) * 6_371_008.8 <= distance
  }

  private static func searches(
    _ filter: QueryRule.Filter, _ record: RecordChange, all: Bool
  ) -> Bool {
    func words(_ value: FieldValue) -> [String]? {
      switch value {
      case .string(let text):
        return text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
      case .list(let members) where members.allSatisfy({ type($0) == "string" }):
        return members.flatMap { words($0) ?? [] }
      default: return nil
      }
    }
    let texts = record.fields.filter {
      !$0.name.hasPrefix("_") && (filter.field == "self" || $0.name == filter.field)
    }.compactMap { words($0.value) }
    guard !texts.isEmpty, let wanted = words(filter.value), !wanted.isEmpty else { return false }
    let found = Set(texts.joined())
    return all ? found.isSuperset(of: wanted) : !found.isDisjoint(with: wanted)
  }
}
