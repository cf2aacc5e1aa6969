import Foundation

/// JSON with lenient access for assertions.
struct JSON: @unchecked Sendable, CustomStringConvertible {  // An immutable tree of values.
  let value: Any?

  init(_ value: Any?) { self.value = value }

  init(data: Data) {
    // Bad JSON becomes null: the assertion that looks for a key prints the value.
    value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
  }

  /// Reads a file of one value a line. Another process may still append, so a last line without its
  /// end is left for the next call.
  static func lines(of file: URL) throws -> [JSON] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return finished(try Data(contentsOf: file)).lines
  }

  /// - Returns: the complete lines, and their length in bytes.
  static func finished(_ data: Data) -> (lines: [JSON], count: Int) {
    guard let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return ([], 0) }
    let whole = data[...end]
    return (whole.split(separator: UInt8(ascii: "\n")).map { JSON(data: Data($0)) }, whole.count)
  }

  subscript(key: String) -> JSON { JSON((value as? [String: Any])?[key]) }
  subscript(index: Int) -> JSON {
    guard let array = value as? [Any], index < array.count else { return JSON(nil) }
    return JSON(array[index])
  }

  var array: [JSON] { (value as? [Any] ?? []).map { JSON($0) } }
  var string: String? { value as? String }
  var int: Int? { (value as? NSNumber)?.intValue }
  var double: Double? { (value as? NSNumber)?.doubleValue }
  var bool: Bool? { (value as? NSNumber)?.boolValue }
  var keys: Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
  var isNull: Bool { value == nil || value is NSNull }
  /// The JSON with sorted keys, for comparisons.
  var text: String {
    guard let value,
      let data = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
    else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }
  var description: String { value.map { "\($0)" } ?? "nil" }
}
