import CCurl
import DequeModule
import Foundation
import RelayCore

/// The requests of one web engine, each on its way through libcurl. Lives on the engine's thread.
final class WebTransfers {
  private let multi: UnsafeMutableRawPointer
  private let limits: WebLimits
  /// Told of every request that has left.
  private let left: () -> Void
  private var transfers = Attempts<Transfer>()
  private var waiting: Deque<AttemptID> = []
  private var active: [UnsafeMutableRawPointer: AttemptID] = [:]
  private var idle: [WebHandle] = []

  private struct Transfer {
    var make: @Sendable () throws -> WebRequest
    var answer: @Sendable (WebOutcome) -> Void
    /// From when it is its turn.
    var handle: WebHandle?
  }

  init(multi: UnsafeMutableRawPointer, limits: WebLimits, left: @escaping () -> Void) {
    self.multi = multi
    self.limits = limits
    self.left = left
  }

  var isEmpty: Bool { transfers.count == 0 }
  var nextDeadline: Uptime? { transfers.nextDeadline }

  func take(_ items: [WebEngine.Item]) {
    for item in items {
      waiting.append(
        transfers.admit(
          Transfer(make: item.make, answer: item.answer), deadline: item.deadline))
    }
  }

  /// Starts what has a place, moves bytes, and answers what has ended.
  func turn(at now: Uptime) {
    while active.count < limits.transfersMax, let id = waiting.popFirst() { start(id, at: now) }
    var running: Int32 = 0
    curl_multi_perform(multi, &running)
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else {
        continue
      }
      let result = zr_curl_message_result(message)
      guard let id = active[easy], let transfer = transfers.finish(id), let handle = transfer.handle
      else { continue }
      let outcome = handle.outcome(result, limits)
      release(handle)
      end(transfer, outcome)
    }
    while let (_, transfer) = transfers.expire(at: now) {
      let failure =
        transfer.handle?.expiry ?? WebFailure(.unreachable, "unreachable: no free place in time")
      if let handle = transfer.handle { release(handle) }
      end(transfer, .failed(failure))
    }
    if !waiting.isEmpty, active.count < limits.transfersMax { curl_multi_wakeup(multi) }
  }

  /// Ends what is left.
  func stop() {
    while let (_, transfer) = transfers.next() {
      if let handle = transfer.handle { release(handle) }
      end(transfer, .failed(WebFailure(.stopped, "the web engine has stopped")))
    }
  }

  private func start(_ id: AttemptID, at now: Uptime) {
    // It may have expired while it waited.
    guard let make = transfers.with(id, { $0.make }) else { return }
    let handle = idle.popLast() ?? WebHandle()
    do {
      try handle.prepare(make())
    } catch {
      guard let transfer = transfers.finish(id) else { return }
      idle.append(handle)
      end(transfer, .failed(error as? WebFailure ?? WebFailure(.invalid, "\(error)")))
      return
    }
    transfers.with(id) { $0.handle = handle }
    active[handle.easy] = id
    curl_multi_add_handle(multi, handle.easy)
  }

  private func release(_ handle: WebHandle) {
    curl_multi_remove_handle(multi, handle.easy)
    active[handle.easy] = nil
    handle.reset()
    idle.append(handle)
  }

  private func end(_ transfer: Transfer, _ outcome: WebOutcome) {
    left()
    transfer.answer(outcome)
  }
}
