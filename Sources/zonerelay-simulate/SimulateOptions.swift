import Glibc
import RelaySimulation

/// The options of the command line.
struct SimulateOptions {
  struct Wrong: Error { var text: String }

  var isHelp = false
  var isVerbose = false
  var first: UInt64 = 1
  var count: UInt64 = 1_000
  var mutant: Mutant?
  var isSeason = false
  var isReport = false
  var isJSON = false
  /// Kinds of traffic to report.
  var shapes = SeasonShape.allCases
  var jobs = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  var range: Range<UInt64> { first..<(first + count) }

  init(_ arguments: [String]) throws(Wrong) {
    var rest = arguments[...]
    if rest.first == "season" {
      isSeason = true
      rest.removeFirst()
      if rest.contains("--report") { count = 10 }
    }
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
        guard let known = Mutant(text: value) else {
          let names = Mutant.allCases.map(\.rawValue).joined(separator: ", ")
          throw Wrong(text: "--plant takes P1 to P12 or one of \(names), not '\(value)'")
        }
        mutant = known
      case "--report" where isSeason: isReport = true
      case "--json" where isSeason: isJSON = true
      case "--traffic" where isSeason:
        let text = rest.popFirst() ?? ""
        guard let shape = SeasonShape(rawValue: text) else {
          let names = SeasonShape.allCases.map(\.rawValue).joined(separator: ", ")
          throw Wrong(text: "--traffic takes one of \(names), not '\(text)'")
        }
        shapes = [shape]
      case "--jobs" where isSeason:
        jobs = Int(try Self.number(name, rest.popFirst()))
        guard (1...64).contains(jobs) else { throw Wrong(text: "--jobs takes 1 to 64") }
      default: throw Wrong(text: "unknown option '\(name)'")
      }
    }
    if isSeason, let mutant, !Season.plants.contains(mutant) {
      throw Wrong(text: "a season's bugs are P5, P6, P7 and P12")
    }
  }

  private static func number(_ name: String, _ text: String?) throws(Wrong) -> UInt64 {
    guard let text, let value = UInt64(text), value < 1 << 62 else {
      throw Wrong(text: "\(name) takes a number, not '\(text ?? "")'")
    }
    return value
  }
}
