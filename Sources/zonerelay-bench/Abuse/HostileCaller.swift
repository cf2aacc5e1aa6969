import Foundation
import Synchronization

/// One kind of abuse. `turn` is called again and again on threads of its own until the phase ends;
/// it returns within a few seconds.
struct HostileCaller: Sendable {
  let name: String
  let threads: Int
  let turn: @Sendable (HostileTurn) -> Void

  init(_ name: String, threads: Int = 1, _ turn: @escaping @Sendable (HostileTurn) -> Void) {
    self.name = name
    self.threads = threads
    self.turn = turn
  }
}

/// What one turn knows: where the daemon listens, how often this thread had a turn, and where
/// answers are counted.
struct HostileTurn {
  var port: Int
  var thread: Int
  var number: Int
  var answers: HostileAnswers
  var name: String
  /// The phase is over: a turn that waits goes home.
  var isOver: @Sendable () -> Bool

  func connection() -> HostileConnection? { HostileConnection(port: port) }

  /// Sends a whole request on a connection of its own, and counts the answer.
  func call(_ request: [UInt8]) {
    guard let connection = connection(), connection.send(request) else { return }
    if let answer = connection.answer() { answers.count(answer, of: name) }
  }

  /// Opens connections that each begin with `head` and then write a byte a second.
  func drip(_ head: String, connections count: Int, seconds: Int = 4) {
    let all = (0..<count).compactMap { _ in connection() }.filter { $0.send(head) }
    for _ in 0..<seconds where !isOver() {
      for connection in all { _ = connection.send([UInt8(ascii: " ")]) }
      Thread.sleep(forTimeInterval: 1)
    }
  }
}

/// What hostile callers were answered, by the kind of abuse.
final class HostileAnswers: Sendable {
  private let counts = Mutex<[String: [String: Int]]>([:])

  func count(_ answer: HostileAnswer, of name: String) {
    let isBare = answer.status == 503 && !answer.hasRetryAfter
    let key = isBare ? "503 without Retry-After" : "\(answer.status)"
    counts.withLock { $0[name, default: [:]][key, default: 0] += 1 }
  }

  var all: [String: [String: Int]] { counts.withLock { $0 } }

  /// Answers that no caller may get, whatever it sends.
  var forbidden: [String] {
    all.flatMap { name, counts in
      counts.filter { $0.key.hasPrefix("5") && $0.key != "503" && $0.key != "501" }
        .map { "\(name): \($0.value) answers \($0.key)" }
    }.sorted()
  }
}

/// The threads of some hostile callers, from `start` until `end`.
final class HostileCrowd {
  private let flag = StopFlag()
  private let group = DispatchGroup()
  let answers = HostileAnswers()

  func start(_ callers: [HostileCaller], port: Int) {
    let flag = flag
    let group = group
    let answers = answers
    for caller in callers {
      for thread in 0..<caller.threads {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          var number = 0
          while !flag.isSet {
            caller.turn(
              HostileTurn(
                port: port, thread: thread, number: number, answers: answers, name: caller.name,
                isOver: { flag.isSet }))
            number += 1
          }
        }
      }
    }
  }

  /// Returns when all threads have ended, a few seconds later at most.
  func end() async {
    flag.set()
    let group = group
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      group.notify(queue: .global()) { done.resume() }
    }
  }
}

/// Tells threads that their time is over.
final class StopFlag: Sendable {
  private let isOver = Atomic(false)
  func set() { isOver.store(true, ordering: .relaxed) }
  var isSet: Bool { isOver.load(ordering: .relaxed) }
}
