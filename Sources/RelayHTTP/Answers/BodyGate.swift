import Hummingbird
import NIOCore
import RelayWire
import Synchronization

/// Bounds the memory of bodies that are read at one moment.
final class BodyGate: Sendable {
  private let bytesMax: Int
  private let bytes = Mutex(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Reads a request's body. Room is taken for what has come, not for what is announced: a body
  /// that does not come keeps nobody's.
  ///
  /// - Throws: `WireError` if it is too large or too late, or too much is being read already;
  ///   anything else is the connection breaking off.
  func collect(_ request: Request, upTo limit: Int) async throws -> [UInt8] {
    let declared = request.headers[.contentLength].flatMap { Int($0) }
    guard declared ?? 0 <= limit else { throw Self.tooLarge(limit) }
    var body: [UInt8] = []
    var share = 0
    defer { bytes.withLock { $0 -= share } }
    for try await piece in request.body {
      let more = piece.readableBytes
      guard share + more <= limit else { throw Self.tooLarge(limit) }
      guard reserve(more) else {
        throw WireError(
          .tryAgainLater, "the relay reads too many requests at once; nothing was taken",
          retryAfterSeconds: 1)
      }
      share += more
      body.append(contentsOf: piece.readableBytesView)
    }
    return body
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
