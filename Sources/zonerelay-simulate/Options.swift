import RelaySimulation

/// What the command line asks for.
struct Options {
  struct Wrong: Error { var text: String }

  var isHelp = false
  var isVerbose = false
  var first: UInt64 = 1
  var count: UInt64 = 1_000
  var planted: Planted?

  var range: Range<UInt64> { first..<(first + count) }

  init(_ arguments: [String]) throws(Wrong) {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--help", "-h": isHelp = true
      case "--verbose": isVerbose = true
      case "--seeds": count = try Self.number(name, rest.popFirst())
      case "--from": first = try Self.number(name, rest.popFirst())
      case "--seed":
        first = try Self.number(name, rest.popFirst())
        count = 1
      case "--plant":
        let value = rest.popFirst() ?? ""
        guard let known = Planted(rawValue: value) else {
          throw Wrong(text: "--plant takes P1 to P12, not '\(value)'")
        }
        planted = known
      default: throw Wrong(text: "unknown option '\(name)'")
      }
    }
  }

  private static func number(_ name: String, _ text: String?) throws(Wrong) -> UInt64 {
    guard let text, let value = UInt64(text), value < 1 << 62 else {
      throw Wrong(text: "\(name) takes a number, not '\(text ?? "")'")
    }
    return value
  }
}
