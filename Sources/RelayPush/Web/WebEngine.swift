import CCurl
import Foundation
package import RelayCore
package import RelayEngine
import Synchronization

/// Sends requests to any host, by libcurl on one thread of its own: HTTP/1.1 with connections kept
/// open, no redirects, no proxies.
///
/// Every request gets its outcome exactly once, by its deadline. The caller is never blocked, and
/// the costly work of making a request happens on the engine's thread.
package final class WebEngine: Sendable {
  private let limits: WebLimits
  private let inbox: Mutex<ItemInbox>

  struct Item: Sendable {
    var deadline: Uptime
    var host: @Sendable () -> String
    var handover: Handover?
    var make: @Sendable () throws -> WebRequest
    var answer: @Sendable (Outcome) -> Void
  }

  private struct ItemInbox {
    /// libcurl's handle; nil once the thread has ended. The inbox's lock prevents a wake-up of a
    /// closed handle.
    var multi: Multi?
    var items: [Item] = []
    /// Items in this inbox and items on the thread.
    var count = 0
    var isClosed = false

    func wake() { if let multi { curl_multi_wakeup(multi.handle) } }
  }

  /// `@unchecked Sendable`: other threads only call `curl_multi_wakeup`, which any thread may call.
  private struct Multi: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
  }

  package init(limits: WebLimits = WebLimits()) {
    self.limits = limits
    _ = Self.global
    guard let handle = curl_multi_init() else {
      preconditionFailure("libcurl gave no handle: the process has no memory")
    }
    inbox = Mutex(ItemInbox(multi: Multi(handle: handle)))
    zr_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, limits.idleConnectionsMax)
  }

  deinit { inbox.withLock { if let multi = $0.multi { curl_multi_cleanup(multi.handle) } } }

  /// Initialises libcurl, which every process must do once before any other call of libcurl. A
  /// repeated initialisation is harmless.
  private static let global: Void = {
    let result = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    precondition(result == CURLE_OK, "libcurl cannot be initialised: the process has no memory")
  }()

  /// - Parameters:
  ///   - timeout: the time from now to the outcome.
  ///   - host: called once, on the engine's thread. Requests with the same host share that host's
  ///     places, so that a silent host uses no more than these. The host is used for nothing else.
  ///   - handover: the engine calls `handover.begin` when the request starts. A recall of the
  ///     push after `begin` has to wait until the request has its outcome.
  ///   - make: called once, on the engine's thread, when the request starts; an error ends the
  ///     request as `invalid`.
  ///   - answer: called once, on the engine's thread or, if the request is refused, before `send`
  ///     returns. It must not block, and may call `send`.
  package func send(
    within timeout: Span, to host: @escaping @Sendable () -> String, _ handover: Handover? = nil,
    _ make: @escaping @Sendable () throws -> WebRequest,
    answer: @escaping @Sendable (Outcome) -> Void
  ) {
    let item = Item(
      deadline: .now + timeout, host: host, handover: handover, make: make, answer: answer)
    let refusal = inbox.withLock { inbox -> TransportFailure? in
      if inbox.isClosed { return TransportFailure(.stopped, "the web engine is stopping") }
      guard inbox.count < limits.waitingMax else {
        return TransportFailure(.full, "\(limits.waitingMax) requests wait already")
      }
      inbox.count += 1
      inbox.items.append(item)
      inbox.wake()
      return nil
    }
    if let refusal { answer(.failed(refusal)) }
  }

  /// Owns the connections until the task is cancelled. Then the engine accepts no request, lets
  /// open requests finish within `stopGrace`, and the call returns when all are answered. Call it
  /// once.
  package func run() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thread = Thread {
          self.work()
          continuation.resume()
        }
        thread.name = "zonerelay.web"
        thread.start()
      }
    } onCancel: {
      inbox.withLock { inbox in
        inbox.isClosed = true
        inbox.wake()
      }
    }
  }

  /// The body of the engine's thread.
  private func work() {
    guard let multi = inbox.withLock({ $0.multi }) else { return }
    turn(multi)
    inbox.withLock { $0.multi = nil }
    curl_multi_cleanup(multi.handle)
  }

  /// Runs until the engine is stopped and all requests are answered.
  private func turn(_ multi: Multi) {
    let transfers = WebTransfers(multi: multi.handle, limits: limits) { [self] in
      inbox.withLock { $0.count -= 1 }
    }
    var end: Uptime?
    while true {
      let (items, isClosed) = inbox.withLock { inbox in
        defer { inbox.items.removeAll(keepingCapacity: true) }
        return (inbox.items, inbox.isClosed)
      }
      let now = Uptime.now
      transfers.take(items)
      transfers.turn(at: now)
      if isClosed {
        let last = end ?? now + limits.stopGrace
        end = last
        if transfers.isEmpty || last <= now {
          transfers.stop()
          return
        }
      }
      let wait = min(transfers.nextDeadline ?? now + .minutes(1), end ?? now + .minutes(1)) - now
      curl_multi_poll(multi.handle, nil, 0, Int32(max(0, min(wait.milliseconds, 60_000))), nil)
    }
  }
}
