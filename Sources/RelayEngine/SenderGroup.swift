import RelayCore
import Synchronization

/// Runs the senders of all routes. A new sender replaces the earlier sender of its route; the
/// replaced sender finishes its pushes in flight and closes its connections.
final class SenderGroup: Sendable {
  /// Ends the stream for which a sender's task waits, so that the sender stops.
  private typealias Leaving = AsyncStream<Never>.Continuation

  /// The senders of one route, and what its earlier senders counted.
  private struct RouteSenders {
    /// Stops the current sender; nil if the route has no sender now.
    var leaving: Leaving?
    /// The current sender, and earlier senders that have not ended yet, by their number.
    var running: [Int: any PushSender] = [:]
    var lastNumber = 0
    /// The sum of the counters of senders that have ended.
    var ended = SenderHealth()

    /// - Returns: the number of the new sender, and the `Leaving` that ends the sender before it.
    mutating func start(_ sender: any PushSender, _ next: Leaving) -> (Int, before: Leaving?) {
      lastNumber += 1
      running[lastNumber] = sender
      defer { leaving = next }
      return (lastNumber, leaving)
    }

    mutating func end(_ number: Int) {
      if let sender = running.removeValue(forKey: number) { ended += sender.health }
      (ended.connections, ended.waiting) = (0, 0)
    }
  }

  private let starting: AsyncStream<@Sendable () async -> Void>
  private let begin: AsyncStream<@Sendable () async -> Void>.Continuation
  private let state = Mutex<[RouteKey: RouteSenders]>([:])

  init() { (starting, begin) = AsyncStream.makeStream() }

  func start(_ sender: any PushSender, on route: RouteKey) {
    let (leave, leaving) = AsyncStream<Never>.makeStream()
    let (number, before) = state.withLock {
      $0[route, default: RouteSenders()].start(sender, leaving)
    }
    before?.finish()
    begin.yield {
      await withDiscardingTaskGroup { group in
        group.addTask { await sender.run() }
        for await _ in leave {}
        group.cancelAll()
      }
      self.state.withLock { $0[route]?.end(number) }
    }
  }

  func dismiss(from route: RouteKey) { state.withLock { $0[route]?.leaving.take() }?.finish() }

  /// For each route that has or has had a sender: the sum over its senders, also over the earlier
  /// ones. So the counters of a route never fall.
  var health: [RouteKey: SenderHealth] {
    state.withLock { routes in
      routes.mapValues { senders in
        senders.running.values.reduce(into: senders.ended) { $0 += $1.health }
      }
    }
  }

  /// Runs until it is cancelled and all senders have closed.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await work in starting { group.addTask { await work() } }
    }
  }
}
