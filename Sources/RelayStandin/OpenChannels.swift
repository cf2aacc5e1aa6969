import NIOCore
import Synchronization

/// The open connections, and the first failure, which stops the stand-in.
final class OpenChannels: Sendable {
  private let state = Mutex(State())

  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var failure: (any Error)?
  }

  var all: [any Channel] { state.withLock { Array($0.channels.values) } }
  var failure: (any Error)? { state.withLock { $0.failure } }

  /// Keeps a connection until it closes.
  func insert(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.channels[id] = channel }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.channels[id] = nil }
    }
  }

  func listen(on listener: any Channel) {
    state.withLock { $0.listener = listener }
  }

  /// Stops the listener because of `error`; only the first error is kept.
  func fail(_ error: any Error) {
    let listener = state.withLock {
      if $0.failure == nil { $0.failure = error }
      return $0.listener
    }
    listener?.close(promise: nil)
  }
}
