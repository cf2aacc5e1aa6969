import DequeModule
import RelayCore

/// Open submissions: which of their facts are answered, and whom to tell when all are.
struct Desk: Sendable {
  private struct Open: Sendable {
    var answers: [Answer]
    /// Answers still missing for each fact; a broadcast fact has one a partition.
    var missing: [Int]
    var left: Int
    var room: Inbox.Room
    /// Nil: it was told to come again, and what it holds of the inbox's bound stays held.
    var send: (@Sendable (Result<[Answer], Unavailable>) -> Void)?
  }

  private var open: [UInt64: Open] = [:]
  private var last: UInt64 = 0
  /// In order of arrival: until when each may wait, on the boot clock.
  private var deadlines: Deque<(submission: UInt64, until: Instant)> = []

  /// - Parameter until: on the boot clock; never before that of one that came earlier.
  mutating func open(_ submission: Inbox.Submission, until: Instant) -> [Settling.Ticket] {
    last += 1
    deadlines.append((last, until))
    let count = submission.facts.count
    open[last] = Open(
      answers: Array(repeating: .done, count: count), missing: Array(repeating: 0, count: count),
      left: count, room: submission.room, send: submission.answer)
    return (0..<count).map { Settling.Ticket(submission: last, index: $0) }
  }

  mutating func expect(_ answers: Int, for ticket: Settling.Ticket) {
    open[ticket.submission]?.missing[ticket.index] = answers
  }

  /// - Returns: how much of the inbox's bounds is free again.
  mutating func answer(_ due: Settling.Due) -> Inbox.Room {
    guard let index = open.index(forKey: due.ticket.submission) else { return .none }
    open.values[index].answers[due.ticket.index] = due.answer
    open.values[index].missing[due.ticket.index] -= 1
    guard open.values[index].missing[due.ticket.index] == 0 else { return .none }
    open.values[index].left -= 1
    guard open.values[index].left == 0 else { return .none }
    let done = open.remove(at: index).value
    done.send?(.success(done.answers))
    return done.room
  }

  /// The daemon ends: what became of these their senders learn by sending them again.
  mutating func close() {
    for key in open.keys.sorted() {
      open[key]?.send?(.failure(Unavailable(.draining, retryAfterSeconds: 5)))
    }
    open = [:]
  }

  /// Nothing of this fact was taken: the whole submission is to be sent again. What was taken of it
  /// will count as duplicate.
  mutating func refuse(_ ticket: Settling.Ticket, _ why: Unavailable) -> Inbox.Room {
    guard let done = open.removeValue(forKey: ticket.submission) else { return .none }
    done.send?(.failure(why))
    return done.room
  }

  /// Tells those whose deadline has come. Costs no more than there are of them and of those that
  /// were answered before theirs.
  mutating func giveUp(until now: Instant, _ why: Unavailable) {
    while let next = deadlines.first, next.until <= now || open[next.submission] == nil {
      deadlines.removeFirst()
      giveUp(next.submission, why)
    }
  }

  /// These wait for what cannot come now.
  mutating func giveUp(_ tickets: [Settling.Ticket], _ why: Unavailable) {
    for ticket in tickets { giveUp(ticket.submission, why) }
  }

  /// What was taken of it goes its way. It counts until that is done: no flood of repeats can fill
  /// memory behind the inbox's bound.
  private mutating func giveUp(_ submission: UInt64, _ why: Unavailable) {
    open[submission]?.send.take()?(.failure(why))
  }
}
