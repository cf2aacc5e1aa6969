/// What a stand-in does wrong, until it is told otherwise. Several faults hold at once.
///
/// Written one a line or between semicolons (``init(_:)``); printed the same way.
package struct Faults: Equatable, Sendable {
  /// Refusals that are not the request's fault; the first that fits a request counts.
  var answers: [AnswerFault] = []
  /// Every answer waits for so long, in milliseconds.
  var slow: Int64?
  /// The beginning of a new connection's TLS waits for so long, in milliseconds.
  var handshake: Int64?
  /// Every so manieth request is answered by RST_STREAM.
  var resetEvery: Int?
  /// Every so manieth request ends its connection by a TCP reset.
  var hangUpEvery: Int?
  /// Every so manieth request meets a GOAWAY and is not processed.
  var goawayEvery: Int?
  /// Every connection that is open when the fault begins says goodbye, and finishes what it took.
  var saysGoodbye = false
  /// SETTINGS_MAX_CONCURRENT_STREAMS, of open connections too.
  var maxStreams: Int?
  /// Requests are taken and nothing is answered any more, pings neither.
  var isSilent = false
  /// Connections are accepted, and nothing is read or written on any.
  var isBlackhole = false
  /// Open connections are reset, and so is every new one.
  var refuses = false

  package init() {}

  /// Reads faults; an empty text is none.
  ///
  /// - Throws: ``StandinError`` that names the words and says what may stand there.
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

  /// One a line, as they are written; "none" if there is none.
  package var text: String { lines.isEmpty ? "none" : lines.joined(separator: "\n") }

  /// Their first words.
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

  /// What an answer fault makes of a request; nil if none fits it.
  func answer(topic: String?, token: String) -> AnswerFault? {
    answers.first { $0.fits(topic: topic, token: token) }
  }
}
