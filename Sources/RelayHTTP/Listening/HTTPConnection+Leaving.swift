import HTTPTypes
import NIOCore

/// How a connection ends: it first sends all its answers to a client that reads them in time.
extension HTTPConnection {
  /// How long, and how many bytes, the connection still reads after its last answer.
  private static let lingering = TimeAmount.seconds(5)
  private static let passedOverMax = 16 * 1_024 * 1_024

  /// Begins no further request, and closes the connection once all its answers have left for the
  /// network.
  func leave() {
    if !isLeaving { restartIdleness() }
    isLeaving = true
    depart()
  }

  /// Called when an answer has left for the network, or has failed to.
  func hasLeft() {
    unsent -= 1
    depart()
  }

  /// True if the request has been answered and the client still sends its body.
  var isPassingOver: Bool {
    guard let current = underWay, current.isAnswered else { return false }
    return !current.isRead && !isInputClosed
  }

  func passOver(_ buffer: ByteBuffer) {
    underWay?.passedOver += buffer.readableBytes
    if let passed = underWay?.passedOver, passed > Self.passedOverMax { close() }
  }

  /// Ends a body that has not arrived within its time, even if bytes still arrive slowly. Otherwise
  /// a few bodies that never end would keep the room of all callers.
  func bodyIsLate() {
    guard let current = underWay, !current.isAnswered else { return close() }
    underWay?.isLate = true
    underWay?.isClosing = true
    underWay?.reader.take()?.resume(throwing: lateness)
    watchIdleness(for: idle)
  }

  /// Gives the body of the request under way less time than others, because its sender is not known
  /// yet.
  static func hurryBody(on channel: any Channel, within seconds: Int) {
    channel.eventLoop.execute {
      // Tests of the controllers alone have no connection.
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
    // If the connection closed while the client still writes, the kernel would reset it, and the
    // client would lose the part of its answer that it has not read yet.
    guard isPassingOver else { return close() }
    guard !isLingering else { return }
    isLingering = true
    timer?.cancel()
    watchIdleness(for: min(idle, Self.lingering))
    context?.close(mode: .output, promise: nil)
  }
}
