public import Foundation

/// One request to the relay. Bodies are JSON.
public struct RelayRequest: Hashable, Sendable {
  public var method: String
  public var url: URL
  /// Header fields by name.
  public var headers: [String: String]
  public var body: Data?
  /// The longest time until the whole answer is there.
  public var timeout: Duration
  /// The most bytes that the answer's body may have, unpacked.
  public var answerBytesMax = Self.answerBytesMax
  /// Whether the relay may hold the request for a minute before it answers, as the courier does.
  public var isHeld: Bool

  public init(
    method: String, url: URL, headers: [String: String] = [:], body: Data? = nil,
    timeout: Duration = .seconds(30), isHeld: Bool = false
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.isHeld = isHeld
  }

  /// The limit that every request has at first: 16 MiB. The largest answer of a relay, a page of
  /// 1,000 records with the longest names, has some 2 MiB.
  public static let answerBytesMax = 16 << 20
}

/// The relay's answer, with any status.
public struct RelayAnswer: Hashable, Sendable {
  public var status: Int
  /// Header fields, by their names in lower case.
  public var headers: [String: String]
  public var body: Data

  public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Carries requests to the relay. Apps use ``URLSessionTransport``, or one of their own.
public protocol RelayTransport: Sendable {
  /// Sends the request once, without retries.
  ///
  /// An answer that takes longer than ``RelayRequest/timeout`` or has more bytes than
  /// ``RelayRequest/answerBytesMax`` is an error, and the rest of it is not kept.
  ///
  /// - Throws: any error means that no whole answer came. The client sends the request again later,
  ///   so every request that it makes may be repeated.
  func send(_ request: RelayRequest) async throws -> RelayAnswer
}
