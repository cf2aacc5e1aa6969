import NIOCore
import RelayCore
import RelayEngine
import Synchronization

/// An open poll or stream.
struct CourierLine: Sendable {
  let device: DeviceKey
  let isStream: Bool
  let channel: any Channel
  let relay: any Relaying
  /// The wheel's tick at which its address ends.
  let expires: Int
  var slot: Int?
  /// Its reader's task, if it waits.
  var waiter: CheckedContinuation<CourierCall, Never>?
  /// For a reader that does not wait yet.
  var waiting: CourierCall?
  /// The one answer that has not left yet.
  var letter: Letter?

  init(
    device: DeviceKey, isStream: Bool, channel: any Channel, relay: any Relaying, expires: Int
  ) {
    self.device = device
    self.isStream = isStream
    self.channel = channel
    self.relay = relay
    self.expires = expires
  }

  func end(_ call: CourierCall) { waiter?.resume(returning: call) }
}

/// What a line's reader is told.
enum CourierCall: Sendable {
  case letter(Letter)
  /// Nothing came: a poll is answered empty, a stream ends.
  case empty
  /// The other side is gone.
  case broken
  /// A stream shows that it lives.
  case beat
}

/// A wake on its way to a reader. Its verdict is given once, whatever becomes of it.
final class Letter: Sendable {
  let wake: UInt32
  let payload: [UInt8]
  private let answer: Mutex<(@Sendable (Verdict) -> Void)?>

  init(wake: UInt32, payload: [UInt8], answer: @escaping @Sendable (Verdict) -> Void) {
    self.wake = wake
    self.payload = payload
    self.answer = Mutex(answer)
  }

  func answered(_ verdict: Verdict) {
    let answer = self.answer.withLock { $0.take() }
    answer?(verdict)
  }

  deinit {
    answered(.later(after: nil, .attempt, Verdict.Reason("the courier's answer was not written")))
  }
}
