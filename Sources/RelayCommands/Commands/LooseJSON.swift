import Foundation

/// The JSON of an answer, read member by member. A missing value reads as an empty one.
struct LooseJSON {
  let value: Any?
  init(_ value: Any?) { self.value = value }

  /// - Throws: Foundation's error if the body is no JSON.
  init(body: [UInt8]) throws { value = try JSONSerialization.jsonObject(with: Data(body)) }

  subscript(key: String) -> LooseJSON { LooseJSON((value as? [String: Any])?[key]) }
  var array: [LooseJSON] { (value as? [Any] ?? []).map { LooseJSON($0) } }
  var string: String { value as? String ?? "" }
  var int: Int { (value as? NSNumber)?.intValue ?? 0 }
  var bool: Bool { (value as? NSNumber)?.boolValue ?? false }

  /// The JSON in one line, with sorted keys.
  var text: String {
    guard let value,
      let data = try? JSONSerialization.data(  // Cannot fail: `value` was parsed from JSON.
        withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }
}
