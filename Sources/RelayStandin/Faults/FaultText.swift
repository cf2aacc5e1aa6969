/// The words of one fault, read one after another; unread words are an error.
struct FaultText {
  let name: String
  private var plain: [String] = []
  private var options: [String: String] = [:]

  init(_ name: String, _ words: some Sequence<String>) {
    self.name = name
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 {
        options[String(parts[0])] = String(parts[1])
      } else {
        plain.append(word)
      }
    }
  }

  mutating func next(_ what: String) throws(StandinError) -> String {
    guard !plain.isEmpty else { throw wrong("wants \(what)", remedy: "write it after the word") }
    return plain.removeFirst()
  }

  mutating func option<Value>(
    _ name: String, _ read: (String) -> Value?
  ) throws(StandinError) -> Value? {
    guard let text = options.removeValue(forKey: name) else { return nil }
    guard let value = read(text) else {
      throw wrong("has \(name)=\(text)", remedy: "give \(name) a number, or such as 500ms, 2s, 1h")
    }
    return value
  }

  mutating func every() throws(StandinError) -> Int? {
    try option("every") { Int($0).flatMap { $0 >= 1 ? $0 : nil } }
  }

  mutating func count() throws(StandinError) -> Int {
    let word = try next("a count")
    guard let count = Int(word), (0...Int(Int32.max)).contains(count) else {
      throw wrong("is no count: \(word)", remedy: "give a count of 0 or more")
    }
    return count
  }

  mutating func duration() throws(StandinError) -> Int64 {
    let word = try next("a duration")
    guard let milliseconds = Self.milliseconds(word) else {
      throw wrong("is no duration: \(word)", remedy: "write 500ms, 2s, 5m, 1h or 30d")
    }
    return milliseconds
  }

  /// Throws an error if words are left that were not read.
  func end() throws(StandinError) {
    let left = plain + options.keys.sorted()
    guard left.isEmpty else {
      throw wrong("does not know \(left.joined(separator: ", "))", remedy: "leave it out")
    }
  }

  func wrong(_ what: String, remedy: String) -> StandinError {
    StandinError(code: .badSetting, message: "the fault \"\(name)\" \(what)", remedy: remedy)
  }

  /// The longest duration that a fault may have: about three years.
  private static let millisecondsMax: Int64 = 100_000_000_000

  static func milliseconds(_ text: String) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [String: Int64] = [
      "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
    guard let number = Int64(digits), let unit = units[String(text.dropFirst(digits.count))],
      number <= Self.millisecondsMax / unit
    else { return nil }
    return number * unit
  }
}
