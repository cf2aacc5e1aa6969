import DequeModule

/// A fact of a request, by its index in the request.
struct RequestTicket: Hashable, Sendable {
  var request: RequestID
  var index: Int
}

/// Identifies a request under way by a number that the shell assigns and never repeats.
package struct RequestID: Hashable, Comparable, Sendable {
  package var number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

/// Requests under way: which of their facts are answered, and the deadline of each request.
struct PendingRequests: Sendable {
  private struct Open: Sendable {
    var answers: [Answer]
    /// How many answers each fact still waits for; a fact for several partitions has one answer
    /// from each of them.
    var missing: [Int]
    var left: Int
    /// The caller was told to retry, and the request still holds its share of the inbox's bounds.
    var isGivenUp = false
  }

  private var open: [RequestID: Open] = [:]
  /// Deadlines on the boot clock, in order of arrival.
  private var deadlines: Deque<(request: RequestID, until: Instant)> = []

  /// The earliest deadline, on the boot clock; `giveUp` has removed those that have passed.
  var nextDeadline: Instant? { deadlines.first?.until }

  /// - Parameters:
  ///   - missing: how many answers each fact of the request will have.
  ///   - until: the request's deadline on the boot clock; never before the deadline of an earlier
  ///     request.
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

  /// A fact of the request was not accepted, so the caller must send the whole request again. The
  /// facts that were accepted then count as duplicates.
  mutating func refuse(
    _ request: RequestID, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    guard let done = open.removeValue(forKey: request) else { return }
    if !done.isGivenUp { actions.append(.answer(request, .failure(why))) }
    actions.append(.release(request))
  }

  /// Gives up requests whose deadline has come. The cost is proportional to the number of these
  /// requests and of the requests that were answered before their deadlines.
  mutating func giveUp(
    until now: Instant, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    while let next = deadlines.first, next.until <= now || open[next.request] == nil {
      deadlines.removeFirst()
      giveUp(next.request, why, into: &actions)
    }
  }

  /// Tells the caller to retry. Accepted facts of the request continue. The request holds its share
  /// of the inbox's bounds until these facts are done, so that repeated requests cannot fill memory
  /// beyond these bounds.
  mutating func giveUp(
    _ request: RequestID, _ why: Unavailable, into actions: inout [Coordinator.Action]
  ) {
    guard open[request]?.isGivenUp == false else { return }
    open[request]?.isGivenUp = true
    actions.append(.answer(request, .failure(why)))
  }
}
