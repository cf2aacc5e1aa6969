import CCurl
import Foundation
import RelayCore
import RelayEngine

/// The requests of one web engine, sent by libcurl. Only the engine's thread uses them.
final class WebTransfers {
  private let multi: UnsafeMutableRawPointer
  private let limits: WebLimits
  /// Called for every request that has ended.
  private let left: () -> Void
  private var transfers = Attempts<Transfer>()
  private var lines: HostLines<AttemptID>
  private var active: [UnsafeMutableRawPointer: AttemptID] = [:]
  private var idle: [WebHandle] = []

  private struct Transfer {
    let item: WebEngine.Item
    /// libcurl's handle for the request; nil until the request starts.
    var handle: WebHandle?
    var host = ""
    var began = Uptime(milliseconds: 0)
  }

  init(multi: UnsafeMutableRawPointer, limits: WebLimits, left: @escaping () -> Void) {
    (self.multi, self.limits, self.left) = (multi, limits, left)
    lines = HostLines(limits)
  }

  var isEmpty: Bool { transfers.count == 0 }
  var nextDeadline: Uptime? { transfers.nextDeadline }

  func take(_ items: [WebEngine.Item]) {
    for item in items {
      let id = transfers.admit(Transfer(item: item), deadline: item.deadline)
      lines.append(id, for: item.host())
    }
  }

  /// Starts requests that have a place, moves bytes, and answers requests that have ended.
  func turn(at now: Uptime) {
    while active.count < limits.transfersMax, let (id, host) = lines.next() {
      if !start(id, to: host, at: now) { lines.left(host, as: .other) }
    }
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
      release(handle, of: transfer, as: ending(outcome, of: transfer, at: now))
      end(transfer, outcome)
    }
    while let (_, transfer) = transfers.expire(at: now) {
      let failure =
        transfer.handle?.expiry
        ?? TransportFailure(.unreachable, "unreachable: no free place in time")
      if let handle = transfer.handle { release(handle, of: transfer, as: .silent) }
      end(transfer, .failed(failure))
    }
    if !lines.isHeld, active.count < limits.transfersMax { curl_multi_wakeup(multi) }
  }

  /// Ends all remaining requests.
  func stop() {
    while let (_, transfer) = transfers.next() {
      let hasSent = transfer.handle?.hasSent ?? false
      if let handle = transfer.handle { release(handle, of: transfer, as: .other) }
      let code: TransportFailure.Code = hasSent ? .cutOff : .stopped
      end(transfer, .failed(TransportFailure(code, "the web engine has stopped")))
    }
  }

  /// - Returns: false if no transfer started: the request was invalid or taken back, or had
  ///   expired.
  private func start(_ id: AttemptID, to host: String, at now: Uptime) -> Bool {
    guard let item = transfers.with(id, { $0.item }) else { return false }
    guard item.handover?.begin() != false else { return refuse(id, .takenBack) }
    let handle = idle.popLast() ?? WebHandle()
    do {
      try handle.prepare(item.make())
    } catch {
      idle.append(handle)
      return refuse(id, error as? TransportFailure ?? TransportFailure(.invalid, "\(error)"))
    }
    transfers.with(id) {
      $0.handle = handle
      $0.host = host
      $0.began = now
    }
    active[handle.easy] = id
    curl_multi_add_handle(multi, handle.easy)
    return true
  }

  /// Ends a request that did not start.
  private func refuse(_ id: AttemptID, _ failure: TransportFailure) -> Bool {
    if let transfer = transfers.finish(id) { end(transfer, .failed(failure)) }
    return false
  }

  /// How the request gave up its place. A slow host counts as silent even if it answers in the end,
  /// because it kept the place from other hosts.
  private func ending(
    _ outcome: Outcome, of transfer: Transfer, at now: Uptime
  ) -> HostLines<AttemptID>.Ending {
    if now - transfer.began >= limits.slowAfter { return .silent }
    if case .answered = outcome { return .answered }
    return .other
  }

  private func release(
    _ handle: WebHandle, of transfer: Transfer, as ending: HostLines<AttemptID>.Ending
  ) {
    lines.left(transfer.host, as: ending)
    curl_multi_remove_handle(multi, handle.easy)
    active[handle.easy] = nil
    handle.reset()
    idle.append(handle)
  }

  private func end(_ transfer: Transfer, _ outcome: Outcome) {
    left()
    transfer.item.answer(outcome)
  }
}
