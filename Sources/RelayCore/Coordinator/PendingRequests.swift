import DequeModule

/// A fact of a request, by its place there.
struct RequestTicket: Hashable, Sendable {
  var request: RequestID
  var index: Int
}

/// A request under way, by a number that the shell gives it and never repeats.
package struct RequestID: Hashable, Comparable, Sendable {
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Requests under way: which of their facts are answered, and until when each is waited for.
struct PendingRequests: Sendable {
  private struct Open: Sendable {
    var answers: [Answer]
    /// Answers still missing for each fact; a broadcast fact has one a partition.
    var missing: [Int]
    var left: Int
    /// It was told to come again, and what it holds of the inbox's bounds stays held.
    var isGivenUp = false
  }

  private var open: [RequestID: Open] = [:]
  /// In order of arrival: until when each may wait, on the boot clock.
  private var deadlines: Deque<(request: RequestID, until: Instant)> = []

  /// On the boot clock; `giveUp` has dropped those before it.
  var nextDeadline: Instant? { deadlines.first?.until }

  /// - Parameters:
  ///   - missing: answers that each of its facts will have.
  ///   - until: on the boot clock; never before that of one that came earlier.
  mutating func open(_ request: RequestID, missing: [Int], until: Instant) {
    deadlines.append((request, until))
    open[request] = Open(
      answers: Array(repeating: .done, count: missing.count), missing: missing,
      left: missing.count)
  }

  mutating func answer(_ due: PendingAnswers.Due, into actions: inout [Coordinator.Action]) {
    let request = due.ticket.request
    guard let index = open.index(forKey: request) else { return }
    open.values[index].answers[due.ticket.index] = due.answer
    open.values[index].missing[due.ticket.index] -= 1
    guard open.values[index].missing[due.ticket.index] == 0 else { return }
    open.values[index].left -= 1
    guard open.values[index].left == 0 else { return }
    let done = open.remove(at: index).value
    if !done.isGivenUp { actions.append(.answer(request, .success(done.answers))) }
    actions.append(.release(request))
  }

  /// Nothing of this fact was taken: the whole request is to be sent again. What was taken of it
  /// will count as duplicate.
  mutating func refuse(
    _ request: RequestID, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    guard let done = open.removeValue(forKey: request) else { return }
    if !done.isGivenUp { actions.append(.answer(request, .failure(why))) }
    actions.append(.release(request))
  }

  /// Gives up those whose deadline has come. Costs no more than there are of them and of those that
  /// were answered before theirs.
  mutating func giveUp(
    until now: Instant, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    while let next = deadlines.first, next.until <= now || open[next.request] == nil {
      deadlines.removeFirst()
      giveUp(next.request, why, into: &actions)
    }
  }

  /// What was taken of it goes its way. It counts until that is done: no flood of repeats can fill
  /// memory behind the inbox's bound.
  mutating func giveUp(
    _ request: RequestID, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    guard open[request]?.isGivenUp == false else { return }
    open[request]?.isGivenUp = true
    actions.append(.answer(request, .failure(why)))
  }
}
