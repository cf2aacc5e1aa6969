import Foundation
import Synchronization

/// HTTP over libcurl for rare requests: those of the commands, also to the control socket, and the
/// daemon's requests to webhooks, and for the key sets of account servers (`users.jwks`).
///
/// Each exchange blocks a thread of the client's own queue, never a thread of the cooperative pool.
/// Connections are kept for the next request to the same server. At most ``exchangesMax`` exchanges
/// run at once; further exchanges wait, and the timeout of each begins when it starts. The client
/// follows no redirect and uses no proxy that environment variables name, so that it contacts only
/// the server that the caller names.
package final class HTTPClient: Sendable {
  /// The most bytes of an answer that a client accepts by default.
  package static let answerBytesMaxDefault = 64 * 1_024 * 1_024
  /// How many exchanges may run at once.
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
  /// - Throws: ``ClientError`` if there is no answer. After `timeout` and `connectionLost` the
  ///   server may have carried out the request. If the task is cancelled, the exchange ends within
  ///   a second.
  package func send(_ request: HTTPRequest) async throws(ClientError) -> HTTPAnswer {
    try await queued { exchange in self.perform(request, exchange) }
  }

  /// Sends a request. If the answer is a success, calls `body` with each piece of the answer's body
  /// as it arrives. Any other answer is kept whole.
  ///
  /// - Parameter body: runs on a thread of the client. It returns false to end the exchange, which
  ///   then throws `cancelled`.
  /// - Throws: ``ClientError`` as `send` does.
  package func stream(
    _ request: HTTPRequest, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
  ) async throws(ClientError) -> HTTPAnswer {
    try await queued(body) { exchange in self.perform(request, exchange) }
  }

  /// Looks the host up, connects and secures the connection as for `request`, sends nothing, and
  /// closes the connection.
  ///
  /// - Throws: ``ClientError`` for the first step that fails.
  package func connect(_ request: HTTPRequest) async throws(ClientError) -> ConnectTimes {
    // The connection only tests the server and is not kept, so a new handle serves this one call.
    try await queued { exchange in CurlHandle().connect(request, exchange) }
  }

  /// Runs blocking work on the queue; a cancelled caller cancels its exchange.
  private func queued<Value: Sendable>(
    _ stream: (@Sendable (UnsafeRawBufferPointer) -> Bool)? = nil,
    _ work: @escaping @Sendable (Exchange) -> Result<Value, ClientError>
  ) async throws(ClientError) -> Value {
    let exchange = Exchange(bytesMax: answerBytesMax, stream: stream)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.addOperation { continuation.resume(returning: work(exchange)) }
      }
    } onCancel: {
      exchange.cancel()
    }
    return try result.get()
  }

  /// Performs one exchange with an idle handle or a new one. Runs on the queue, and blocks its
  /// thread.
  private func perform(
    _ request: HTTPRequest, _ exchange: Exchange
  ) -> Result<HTTPAnswer, ClientError> {
    let handle = idle.withLock { $0.popLast() } ?? CurlHandle()
    defer { idle.withLock { $0.append(handle) } }
    return handle.perform(request, exchange)
  }
}
