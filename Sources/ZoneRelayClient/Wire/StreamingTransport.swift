/// A transport that can also give an answer's bytes as they come. With one, the courier is read as
/// a stream of events; without one, by long polls.
public protocol StreamingTransport: RelayTransport {
  /// Sends the request once and returns when the head of the answer is there. When the reader of
  /// `bytes` stops, the transport closes the connection.
  ///
  /// - Throws: any error means that no answer came. An error of `bytes` means that the answer ended
  ///   early.
  func open(_ request: RelayRequest) async throws -> StreamedAnswer
}

/// An answer whose bytes come over time.
public struct StreamedAnswer: Sendable {
  public var status: Int
  /// Header fields, by their names in lower case.
  public var headers: [String: String]
  public var bytes: AsyncThrowingStream<[UInt8], any Error>

  public init(
    status: Int, headers: [String: String] = [:], bytes: AsyncThrowingStream<[UInt8], any Error>
  ) {
    self.status = status
    self.headers = headers
    self.bytes = bytes
  }
}
