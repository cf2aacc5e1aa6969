import Hummingbird
import NIOCore
import RelayWire
import Synchronization

/// Bounds the memory of bodies that are read at one moment.
final class BodyGate: Sendable {
  private let bytesMax: Int
  private let bytes = Mutex(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Reads a request's body.
  ///
  /// - Throws: `WireError` if it is too large or too much is being read already; anything else is
  ///   the connection breaking off.
  func collect(_ request: Request, upTo limit: Int) async throws -> [UInt8] {
    let declared = request.headers[.contentLength].flatMap { Int($0) }
    guard declared ?? 0 <= limit else { throw Self.tooLarge(limit) }
    let share = declared ?? limit
    guard reserve(share) else {
      throw WireError(
        .tryAgainLater, "the relay reads too many requests at once; nothing was taken",
        retryAfterSeconds: 1)
    }
    defer { bytes.withLock { $0 -= share } }
    do {
      let buffer = try await request.body.collect(upTo: limit)
      return Array(buffer.readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Self.tooLarge(limit)
    }
  }

  private func reserve(_ share: Int) -> Bool {
    bytes.withLock { bytes in
      guard bytes + share <= bytesMax else { return false }
      bytes += share
      return true
    }
  }

  private static func tooLarge(_ limit: Int) -> WireError {
    WireError(.quotaExceeded, "the body has more than \(limit) bytes; split the request")
  }
}
