import RelayCore
import Synchronization

/// Runs the current senders. A new sender replaces the earlier sender of its route; the replaced
/// sender finishes its pushes in flight and closes its connections.
final class SenderGroup: Sendable {
  private struct RunningSender: Sendable {
    var sender: any PushSender
    /// A stream that ends when the sender must stop.
    var leave: AsyncStream<Never>
  }

  private let starting: AsyncStream<RunningSender>
  private let begin: AsyncStream<RunningSender>.Continuation
  private let leaves = Mutex<[RouteKey: AsyncStream<Never>.Continuation]>([:])

  init() { (starting, begin) = AsyncStream.makeStream() }

  func start(_ sender: any PushSender, on route: RouteKey) {
    let (leave, leaving) = AsyncStream<Never>.makeStream()
    let before = leaves.withLock { leaves in
      defer { leaves[route] = leaving }
      return leaves[route]
    }
    before?.finish()
    begin.yield(RunningSender(sender: sender, leave: leave))
  }

  func dismiss(from route: RouteKey) {
    leaves.withLock { $0.removeValue(forKey: route) }?.finish()
  }

  /// Runs until it is cancelled and all senders have closed.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await running in starting { group.addTask { await Self.work(running) } }
    }
  }

  private static func work(_ running: RunningSender) async {
    await withDiscardingTaskGroup { group in
      group.addTask { await running.sender.run() }
      for await _ in running.leave {}
      group.cancelAll()
    }
  }
}
