import Foundation
import Synchronization

/// One kind of abuse. The caller has threads of its own, which call `turn` repeatedly until the
/// phase ends. Each call returns within a few seconds.
struct HostileCaller: Sendable {
  let name: String
  let threads: Int
  let turn: @Sendable (HostileTurn) -> Void

  init(_ name: String, threads: Int = 1, _ turn: @escaping @Sendable (HostileTurn) -> Void) {
    (self.name, self.threads, self.turn) = (name, threads, turn)
  }

  /// One letter with so many combining marks that a comparison by Unicode's rules takes very long.
  ///
  /// - Parameter bytes: the approximate length.
  static func slowText(_ bytes: Int) -> String {
    "a" + String(repeating: "\u{316}\u{301}", count: bytes / 4)
  }

  /// Sends one request after another, each on a connection of its own.
  init(_ name: String, threads: Int = 1, sending request: StampedRequest) {
    self.init(name, threads: threads) { $0.call(request.bytes($0.number)) }
  }
}

/// The inputs of one turn: the daemon's port, a number that no other turn of the run has, and the
/// counters of answers.
struct HostileTurn {
  var port: Int
  var number: Int
  var answers: HostileAnswers
  var name: String
  /// True once the measured phase is over. A turn that waits then returns early.
  var isOver: @Sendable () -> Bool

  func connection() -> HostileConnection? {
    let connection = HostileConnection(port: port)
    answers.count(connection == nil ? .unconnected : .connected, of: name)
    // After an immediate refusal the thread waits briefly, so that it does not try in a tight loop.
    if connection == nil { Thread.sleep(forTimeInterval: 0.01) }
    return connection
  }

  /// Sends a whole request on a connection of its own, and counts the answer.
  func call(_ request: some Sequence<UInt8>) {
    guard let connection = connection() else { return }
    _ = call(request, on: connection)
  }

  /// - Returns: false if there was no answer.
  func call(_ request: some Sequence<UInt8>, on connection: HostileConnection) -> Bool {
    answers.count(.sent, of: name)
    // A failed write does not matter: the daemon may have answered before it closed the connection.
    _ = connection.send(Array(request))
    let answer = connection.answer()
    answers.count(answer, of: name)
    return answer != nil
  }

  /// Opens connections that each send `head` and then one byte a second. Counts the answers that
  /// have arrived by the end of the turn.
  func drip(_ head: String, connections count: Int, seconds: Int = 4) {
    let all = (0..<count).compactMap { _ in connection() }.filter { $0.send(head) }
    answers.count(.sent, all.count, of: name)
    for _ in 0..<seconds where !isOver() {
      for connection in all { _ = connection.send([UInt8(ascii: " ")]) }
      Thread.sleep(forTimeInterval: 1)
    }
    for connection in all { answers.count(connection.answer(within: 0), of: name) }
  }
}

/// What hostile callers sent and which answers they got, by the kind of abuse.
final class HostileAnswers: Sendable {
  enum Event: String {
    case connected = "connections"
    case unconnected = "not connected"
    case sent
    case unanswered
  }

  struct Counts: Sendable {
    var events: [String: Int] = [:]
    var statuses: [String: Int] = [:]
  }

  private let counts = Mutex<[String: Counts]>([:])

  func count(_ event: Event, _ number: Int = 1, of name: String) {
    counts.withLock { $0[name, default: Counts()].events[event.rawValue, default: 0] += number }
  }

  /// - Parameter answer: nil if there was none.
  func count(_ answer: HostileAnswer?, of name: String) {
    guard let answer else { return count(.unanswered, of: name) }
    let isBare = answer.status == 503 && !answer.hasRetryAfter
    let key = isBare ? "503 without Retry-After" : "\(answer.status)"
    counts.withLock { $0[name, default: Counts()].statuses[key, default: 0] += 1 }
  }

  var all: [String: Counts] { counts.withLock { $0 } }

  /// Answers that no caller may get, whatever it sends.
  var forbidden: [String] {
    all.flatMap { name, counts in
      counts.statuses.filter { $0.key.hasPrefix("5") && $0.key != "503" && $0.key != "501" }
        .map { "\(name): \($0.value) answers \($0.key)" }
    }.sorted()
  }

  /// The kinds of abuse that sent nothing, so that the phase proves nothing about them.
  func silent(of callers: [HostileCaller]) -> [String] {
    let all = all
    return callers.map(\.name).filter { all[$0]?.events[Event.sent.rawValue] ?? 0 == 0 }
  }

  /// A line for each kind: the requests sent, and the number of each answer.
  var lines: [String] {
    all.sorted { $0.key < $1.key }.map { name, counts in
      let sent = counts.events.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let answered = counts.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
      return "\(name): \(sent.joined(separator: ", ")); answered "
        + (answered.isEmpty ? "none" : answered.joined(separator: ", "))
    }
  }
}
