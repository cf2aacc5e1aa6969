import HTTPTypes
import NIOCore

/// How a connection ends: with all that was answered, for whoever reads it in time.
extension HTTPConnection {
  /// How long, and how much, is still listened to once all is said.
  private static let lingering = TimeAmount.seconds(5)
  private static let passedOverMax = 16 * 1_024 * 1_024

  /// Nothing more is begun; it closes once all that was answered has left for the network.
  func leave() {
    if !isLeaving { restartIdleness() }
    isLeaving = true
    depart()
  }

  /// An answer has left, or never will.
  func hasLeft() {
    unsent -= 1
    depart()
  }

  /// It has been answered, and speaks on.
  var isPassingOver: Bool {
    guard let current = underWay, current.isAnswered else { return false }
    return !current.isRead && !isInputClosed
  }

  func passOver(_ buffer: ByteBuffer) {
    underWay?.passedOver += buffer.readableBytes
    if let passed = underWay?.passedOver, passed > Self.passedOverMax { close() }
  }

  /// A body has as long as silence has, however lively it trickles: else a few of them, begun and
  /// never ended, would keep everybody's room.
  func bodyIsLate() {
    guard let current = underWay, !current.isAnswered else { return close() }
    underWay?.isLate = true
    underWay?.isClosing = true
    underWay?.reader.take()?.resume(throwing: lateness)
    watchIdleness(for: idle)
  }

  /// The body of the request under way has less time than others: its sender is not known yet.
  static func hurryBody(on channel: any Channel, within seconds: Int) {
    channel.eventLoop.execute {
      // In tests of the controllers alone there is no connection.
      let found = try? channel.pipeline.syncOperations.handler(type: HTTPConnection.self)
      guard let connection = found, let current = connection.underWay, !current.isRead else {
        return
      }
      let time = min(connection.idle, .seconds(Int64(seconds)))
      connection.underWay?.bodyTime = time
      connection.timer?.cancel()
      connection.watchIdleness(for: max(.zero, current.begun + time - .now()))
    }
  }

  var lateness: WireError {
    let time = underWay?.bodyTime ?? idle
    return WireError(
      .badRequest,
      "the body did not arrive within \(time.nanoseconds / 1_000_000_000) s; send less at once",
      status: .requestTimeout)
  }

  private func depart() {
    guard isLeaving, unsent == 0, channel.isActive else { return }
    // Were it closed now, the kernel would cut off who still writes, with what it has not read yet
    // of its answer.
    guard isPassingOver else { return close() }
    guard !isLingering else { return }
    isLingering = true
    timer?.cancel()
    watchIdleness(for: min(idle, Self.lingering))
    context?.close(mode: .output, promise: nil)
  }
}
