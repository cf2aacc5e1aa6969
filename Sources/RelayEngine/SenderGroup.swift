import RelayCore
import Synchronization

/// Runs the senders of all routes. A new sender replaces the earlier sender of its route; the
/// replaced sender finishes its pushes in flight and closes its connections.
final class SenderGroup: Sendable {
  private struct RunningSender: Sendable {
    var route: RouteKey
    var number: Int
    var sender: any PushSender
    /// A stream that ends when the sender must stop.
    var leave: AsyncStream<Never>
  }

  /// The senders of one route, and what its earlier senders counted.
  private struct RouteSenders {
    /// Ends the stream of the current sender; nil if the route has no sender now.
    var leaving: AsyncStream<Never>.Continuation?
    /// The current sender, and earlier senders that have not ended yet, by their number.
    var running: [Int: any PushSender] = [:]
    /// The sum of the counters of senders that have ended.
    var ended = SenderHealth()
  }

  private struct State {
    var routes: [RouteKey: RouteSenders] = [:]
    var lastNumber = 0
  }

  private let starting: AsyncStream<RunningSender>
  private let begin: AsyncStream<RunningSender>.Continuation
  private let state = Mutex(State())

  init() { (starting, begin) = AsyncStream.makeStream() }

  func start(_ sender: any PushSender, on route: RouteKey) {
    let (leave, leaving) = AsyncStream<Never>.makeStream()
    let (before, number) = state.withLock { state in
      state.lastNumber += 1
      state.routes[route, default: RouteSenders()].running[state.lastNumber] = sender
      let before = state.routes[route]?.leaving
      state.routes[route]?.leaving = leaving
      return (before, state.lastNumber)
    }
    before?.finish()
    begin.yield(RunningSender(route: route, number: number, sender: sender, leave: leave))
  }

  func dismiss(from route: RouteKey) {
    state.withLock { $0.routes[route]?.leaving.take() }?.finish()
  }

  /// Routes that have, or have had, a sender.
  var routes: [RouteKey] { state.withLock { Array($0.routes.keys) } }

  /// The sum over the senders of this route, also over its earlier senders. So the counters of a
  /// route never fall.
  func health(on route: RouteKey) -> SenderHealth {
    state.withLock { state in
      guard let senders = state.routes[route] else { return SenderHealth() }
      return senders.running.values.reduce(senders.ended) { $0 + $1.health }
    }
  }

  /// Runs until it is cancelled and all senders have closed.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await running in starting { group.addTask { await self.work(running) } }
    }
  }

  private func work(_ running: RunningSender) async {
    await withDiscardingTaskGroup { group in
      group.addTask { await running.sender.run() }
      for await _ in running.leave {}
      group.cancelAll()
    }
    state.withLock { state in
      state.routes[running.route]?.running[running.number] = nil
      state.routes[running.route]?.ended += running.sender.health.counters
    }
  }
}
