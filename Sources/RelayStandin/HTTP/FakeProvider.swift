import Foundation

/// Judges the requests of one stand-in, one after another, on one event loop.
protocol FakeProvider: Sendable {
  /// - Parameter milliseconds: the current time, since 1970.
  /// - Returns: the answer; nil if the request gets no answer at all.
  func answer(_ request: PushRequest, at milliseconds: Int64) throws -> FakeProviderAnswer?
  /// The answer that the faults give to a request; nil if no fault fits it.
  func answer(_ request: PushRequest, under faults: Faults) -> FakeProviderAnswer?
  /// What the log keeps of a request besides its path and headers, as JSON members.
  func record(of request: PushRequest) -> [String: Any]
}

/// The answer of a stand-in to one request.
struct FakeProviderAnswer: Equatable, Sendable {
  var status: Int
  var headers: [String: String] = [:]
  var body = ""
  /// The logged reason, if the protocol or the stand-in has one.
  var reason: String?
  var delaySeconds: Int64 = 0
}
