/// The faults that a stand-in has until they are replaced. Several faults apply at once.
///
/// ``init(_:)`` reads faults that stand on lines of their own or are separated by semicolons;
/// ``text`` prints one fault on each line.
package struct Faults: Equatable, Sendable {
  /// Refusals of requests that may be correct. A request gets the first refusal that fits it.
  var answers: [AnswerFault] = []
  /// Delay of every answer, in milliseconds.
  var slow: Int64?
  /// Delay of the TLS handshake of a new connection, in milliseconds.
  var handshake: Int64?
  /// Every nth request is answered by RST_STREAM.
  var resetEvery: Int?
  /// Every nth request ends its connection by a TCP reset.
  var hangUpEvery: Int?
  /// Every nth request is not processed: its connection sends a GOAWAY and accepts no more streams.
  var goawayEvery: Int?
  /// Every connection that is open when the fault begins sends GOAWAY and finishes its streams.
  var saysGoodbye = false
  /// SETTINGS_MAX_CONCURRENT_STREAMS of new and open connections.
  var maxStreams: Int?
  /// Requests are accepted, but neither requests nor pings are answered.
  var isSilent = false
  /// Connections are accepted, but nothing is read or written on them.
  var isBlackhole = false
  /// Every open connection and every new connection is reset.
  var refuses = false

  package init() {}

  /// Reads faults; an empty text means no faults.
  ///
  /// - Throws: ``StandinError`` that names the wrong words and the allowed ones.
  package init(_ text: String) throws(StandinError) {
    for line in text.split(whereSeparator: { $0 == "\n" || $0 == ";" }) {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
        .map(String.init)
      if let name = words.first, name != "none" {
        try add(FaultText(name, words.dropFirst()))
      }
    }
  }

  private mutating func add(_ words: FaultText) throws(StandinError) {
    var words = words
    switch words.name {
    case "answer": answers.append(try AnswerFault(&words))
    case "slow": slow = try words.duration()
    case "handshake": handshake = try words.duration()
    case "reset": resetEvery = try words.every() ?? 1
    case "hangup": hangUpEvery = try words.every() ?? 1
    case "goaway":
      goawayEvery = try words.every()
      saysGoodbye = goawayEvery == nil
    case "streams": maxStreams = try words.count()
    case "silence": isSilent = true
    case "blackhole": isBlackhole = true
    case "refuse": refuses = true
    default:
      throw words.wrong(
        "is no fault",
        remedy: "write one of answer, slow, handshake, reset, hangup, goaway, streams, silence, "
          + "blackhole, refuse")
    }
    try words.end()
  }

  /// The faults, one on each line, in the form that `init` reads; "none" if there are none.
  package var text: String { lines.isEmpty ? "none" : lines.joined(separator: "\n") }

  /// The first word of each fault.
  var names: [String] { lines.map { String($0.prefix { $0 != " " }) } }

  private var lines: [String] {
    var lines = answers.map(\.text)
    if let slow { lines.append("slow \(slow)ms") }
    if let handshake { lines.append("handshake \(handshake)ms") }
    if let resetEvery { lines.append("reset every=\(resetEvery)") }
    if let hangUpEvery { lines.append("hangup every=\(hangUpEvery)") }
    if let goawayEvery { lines.append("goaway every=\(goawayEvery)") }
    if saysGoodbye { lines.append("goaway") }
    if let maxStreams { lines.append("streams \(maxStreams)") }
    if isSilent { lines.append("silence") }
    if isBlackhole { lines.append("blackhole") }
    if refuses { lines.append("refuse") }
    return lines
  }

  /// The answer fault for a request; nil if no answer fault fits the request.
  func answer(topic: String?, token: String) -> AnswerFault? {
    answers.first { $0.fits(topic: topic, token: token) }
  }
}
