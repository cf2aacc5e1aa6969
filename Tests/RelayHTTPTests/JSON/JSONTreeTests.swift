import Foundation
import RelayCore
import RelayWire
import Testing

@Suite struct JSONTreeTests {
  static let good = [
    "null", "true", "false", "0", "-0", "12", "-12.5e+3", "1E2", #""""#, #""a""#, "[]", "{}",
    " [ 1 , 2 ] ", #"{"a":{"b":[1,{"c":null}]}}"#, #""\u00e9\ud83d\ude00\n\/\\\"""#, #""é😀""#,
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "\t\r\n 1 \n",
  ]

  @Test(arguments: good) func `the parser reads valid texts as Foundation does`(text: String) throws
  {
    let tree = try JSONTree(Array(text.utf8))
    let theirs = try JSONSerialization.jsonObject(
      with: Data(text.utf8), options: .fragmentsAllowed)
    #expect(Self.isEqual(tree.root, theirs))
  }

  static let bad = [
    "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "[1 2]", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{,"a":1}"#, "{a:1}", #"{"a" 1}"#, "01", "-", "1.", ".5", "1e", "1e+", "+1",
    "tru", "nulL", "truex", "1 2", #"""#, #""\x""#, #""\u12g4""#, #""\u12"#, #""\ud800""#,
    #""\udc00""#, #""\ud800\u0041""#, "\"a\u{0}b\"", "\"a\nb\"", "'a'", "NaN", "Infinity",
    "[1]]", "/* a */ 1", "\u{feff}1", "-01", "--1", "0x10",
  ]

  @Test(arguments: bad) func `a text that is not JSON is refused`(text: String) {
    #expect(throws: JSONProblem.self) { try JSONTree(Array(text.utf8)) }
  }

  static let brokenUTF8: [[UInt8]] = [
    [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80],
    [0xf0, 0x80, 0x80, 0x80],
    [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3], [0xe2, 0x82], [0xff],
    [0xe2, 0x28, 0xa1],
  ]

  @Test(arguments: brokenUTF8) func `broken UTF-8 is refused`(bytes: [UInt8]) {
    let text = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
    #expect(throws: JSONProblem.self) { try JSONTree(text) }
  }

  /// Fixed limit: levels of JSON
  @Test(arguments: [(levels: 63, isRefused: false), (64, false), (65, true)])
  func `the depth of JSON is bounded`(levels: Int, isRefused: Bool) {
    let text = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    #expect((try? JSONTree(Array(text.utf8))) == nil ? isRefused : !isRefused)
  }

  /// Each item and the list itself count as a value; each key counts beside its value.
  ///
  /// Fixed limit: keys and values of JSON
  @Test(arguments: [(nodes: 1_048_575, isRefused: false), (1_048_576, false), (1_048_577, true)])
  func `the number of keys and values is bounded`(nodes: Int, isRefused: Bool) {
    let list = "[" + String(repeating: "1,", count: nodes - 4) + #"{"k":1}]"#
    #expect((try? JSONTree(Array(list.utf8))) == nil ? isRefused : !isRefused)
  }

  @Test func `a million open brackets do not overflow the stack`() {
    let text = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
    #expect(throws: JSONProblem.self) { try JSONTree(text) }
  }

  @Test func `errors name the value by its path`() throws {
    let root = try JSONTree(Array(#"{"a":[{},{"b":{"c d":7}}],"e":[[1,2]]}"#.utf8)).root
    let deep = try root.required("a").elements()[1].required("b").required("c d")
    #expect(deep.path == "a[1].b.c d")
    #expect(throws: JSONProblem(path: "a[1].b.c d", what: "must be a string, not a number")) {
      try deep.string()
    }
    #expect(try root.required("e").elements()[0].elements()[1].path == "e[0][1]")
    #expect(throws: JSONProblem(path: "a[1].b.x", what: "is missing")) {
      try root.required("a").elements()[1].required("b").required("x")
    }
    #expect(throws: JSONProblem(path: "z", what: "is missing")) { try root.required("z") }
  }

  @Test func `the first of several equal keys counts, escaped or not`() throws {
    let root = try JSONTree(Array(#"{"\u0061":1,"a":2,"b":null}"#.utf8)).root
    #expect(try root.required("a").integer() == 1)
    #expect(root.optional("b") == nil)
    #expect(root["b"]?.isNull == true)
  }

  @Test(arguments: [
    ("42", 42), ("42.0", 42), ("4.2e1", 42), ("-0", 0), ("9223372036854775807", Int64.max),
    ("-9223372036854775808", Int64.min), ("999999999999999999", 999_999_999_999_999_999),
  ])
  func `whole numbers are read exactly`(text: String, number: Int64) throws {
    #expect(try JSONTree(Array(text.utf8)).root.integer() == number)
  }

  @Test(arguments: [
    "42.5", "1e30", "9223372036854775808", "-9223372036854775809", "1e400", "true", "\"1\"",
  ])
  func `a value that is not a 64-bit whole number is refused`(text: String) throws {
    let root = try JSONTree(Array(text.utf8)).root
    #expect(throws: JSONProblem.self) { try root.integer() }
  }

  /// Random values written by Foundation are read by the relay's parser, and the other way round.
  @Test func `random values survive a round trip between Foundation and the relay`() throws {
    var random = SplitMix64(seed: 0x5eed)
    for _ in 0..<400 {
      let value = Self.value(depth: 0, &random)
      let data = try JSONSerialization.data(withJSONObject: [value], options: .fragmentsAllowed)
      let tree = try JSONTree(Array(data))
      #expect(Self.isEqual(tree.root, [value]))
      var writer = JSONWriter()
      Self.write(tree.root, &writer)
      let again = try JSONSerialization.jsonObject(with: Data(writer.bytes))
      #expect(Self.isEqual(tree.root, again))
    }
  }

  /// Good texts with a byte changed, removed or inserted never cause a trap. Foundation accepts
  /// every text that the relay's parser accepts.
  @Test func `damaged texts never trap, and only valid JSON is accepted`() throws {
    var random = SplitMix64(seed: 0xbad)
    for round in 0..<4_000 {
      var bytes = Array(Self.good[round % Self.good.count].utf8)
      let place = Int.random(in: 0...bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1 where place < bytes.count: bytes.remove(at: place)
      default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
      }
      guard let tree = try? JSONTree(bytes) else { continue }
      let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      // JSON's grammar allows numbers too large for a `Double`, and Foundation refuses such
      // numbers.
      let isHuge = tree.root.isNumber && (try? tree.root.double()) == nil
      #expect(theirs != nil || isHuge, "accepted: \(bytes)")
      var writer = JSONWriter()
      Self.write(tree.root, &writer)
    }
  }
}

extension JSONTreeTests {
  static func isEqual(_ ours: JSONCursor, _ theirs: Any) -> Bool {
    if ours.isNull { return theirs is NSNull }
    if let flag = try? ours.boolean() { return (theirs as? Bool) == flag }
    if ours.isNumber {
      guard let number = theirs as? NSNumber else { return false }
      if let whole = try? ours.integer(), whole == number.int64Value { return true }
      return (try? ours.double()) == number.doubleValue
    }
    if ours.isString { return (try? ours.string()) == theirs as? String }
    if let elements = try? ours.elements() {
      guard let list = theirs as? [Any], list.count == elements.count else { return false }
      return zip(elements, list).allSatisfy { isEqual($0, $1) }
    }
    guard let members = try? ours.members(), let object = theirs as? [String: Any] else {
      return false
    }
    return members.count == object.count
      && members.allSatisfy { member in
        object[member.key].map { isEqual(member.value, $0) } ?? false
      }
  }

  static func write(_ value: JSONCursor, _ writer: inout JSONWriter) {
    if value.isNull {
      writer.null()
    } else if let flag = try? value.boolean() {
      writer.boolean(flag)
    } else if let number = try? value.integer() {
      writer.integer(number)
    } else if let number = try? value.double() {
      writer.double(number)
    } else if let text = try? value.string() {
      writer.string(text)
    } else if let elements = try? value.elements() {
      writer.beginArray()
      for element in elements { write(element, &writer) }
      writer.endArray()
    } else if let members = try? value.members() {
      writer.beginObject()
      for member in members {
        writer.string(member.key)
        writer.colon()
        write(member.value, &writer)
      }
      writer.endObject()
    }
  }

  static func value(depth: Int, _ random: inout SplitMix64) -> Any {
    switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &random) {
    case 0: return NSNull()
    case 1: return Bool.random(using: &random)
    case 2: return Int.random(in: -1_000_000_000...1_000_000_000, using: &random)
    case 3: return Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 64
    case 4: return text(&random)
    case 5:
      return (0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth + 1, &random)
      }
    default:
      var object: [String: Any] = [:]
      for index in 0..<Int.random(in: 0..<5, using: &random) {
        object["\(text(&random))\(index)"] = value(depth: depth + 1, &random)
      }
      return object
    }
  }

  private static func text(_ random: inout SplitMix64) -> String {
    let alphabet = Array("ab \"\\/\n\t\u{1}\u{7f}é漢😀\u{2028}")
    return String(
      (0..<Int.random(in: 0..<8, using: &random)).map { _ in alphabet.randomElement(using: &random)!
      })
  }
}
