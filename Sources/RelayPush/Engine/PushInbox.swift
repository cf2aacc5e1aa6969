import NIOCore
import RelayEngine
import Synchronization

/// Requests from any thread that wait for the event loop. Many requests wake the loop only once.
final class PushInbox: Sendable {
  struct Item: Sendable {
    var request: Request
    var handover: Handover?
    var deadline: NIODeadline
    var answer: @Sendable (Outcome) -> Void
  }

  enum PutAction {
    /// The caller must schedule the loop.
    case wake
    case none
    case refuse(TransportFailure)
  }

  private let itemsMax: Int
  private let state = Mutex(State())

  private struct State {
    var items: [Item] = []
    var isWoken = false
    var isClosed = false
  }

  init(itemsMax: Int) { self.itemsMax = itemsMax }

  func put(_ item: Item) -> PutAction {
    state.withLock { state in
      guard !state.isClosed else {
        return .refuse(TransportFailure(.stopped, "the push engine is stopping"))
      }
      guard state.items.count < itemsMax else {
        return .refuse(TransportFailure(.full, "\(itemsMax) pushes wait already"))
      }
      state.items.append(item)
      guard !state.isWoken else { return .none }
      state.isWoken = true
      return .wake
    }
  }

  /// Returns the waiting items in `emptied`, and keeps the storage of `emptied` for the next items.
  func take(into emptied: inout [Item]) {
    state.withLock { state in
      state.isWoken = false
      swap(&state.items, &emptied)
    }
  }

  func close() { state.withLock { $0.isClosed = true } }
}
