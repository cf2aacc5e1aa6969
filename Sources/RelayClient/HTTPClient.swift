import Foundation
import Synchronization

/// HTTP over libcurl, for what is not hot: the command line, the control socket, demonstrations.
///
/// Each exchange blocks a thread of the client's own queue, never one of the cooperative pool.
/// Connections are kept for the next request to the same server. At most ``exchangesMax`` run at
/// once; more wait for their turn, and the timeout runs from when it comes. Redirects are not
/// followed and proxies of the environment are not used: the caller names whom it talks to.
package final class HTTPClient: Sendable {
  /// Answers longer than this are refused, unless the client was made with another limit.
  package static let answerBytesMaxDefault = 64 * 1_024 * 1_024
  /// Exchanges at once.
  package static let exchangesMax = 32

  private let answerBytesMax: Int
  private let queue: OperationQueue
  private let idle = Mutex<[CurlHandle]>([])

  /// - Parameter answerBytesMax: longer answers are refused with `answerTooLarge`.
  package init(answerBytesMax: Int = HTTPClient.answerBytesMaxDefault) {
    self.answerBytesMax = answerBytesMax
    queue = OperationQueue()
    queue.name = "zonerelay.client"
    queue.maxConcurrentOperationCount = Self.exchangesMax
  }

  /// Sends a request and waits for the whole answer.
  ///
  /// - Returns: the answer, whatever its status.
  /// - Throws: ``ClientError`` if there is none. After `timeout` and `connectionLost` the request
  ///   may have been served. A cancelled task ends the exchange within a second.
  package func send(_ request: HTTPRequest) async throws(ClientError) -> HTTPAnswer {
    let exchange = Exchange(bytesMax: answerBytesMax)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.addOperation {
          continuation.resume(returning: self.perform(request, exchange))
        }
      }
    } onCancel: {
      exchange.cancel()
    }
    return try result.get()
  }

  /// Runs on the queue and blocks.
  private func perform(
    _ request: HTTPRequest, _ exchange: Exchange
  ) -> Result<HTTPAnswer, ClientError> {
    let handle = idle.withLock { $0.popLast() } ?? CurlHandle()
    defer { idle.withLock { $0.append(handle) } }
    return handle.perform(request, exchange)
  }
}
