import Foundation

/// Judges the requests of one stand-in, one after the other, on one event loop.
protocol FakeProvider: Sendable {
  /// - Parameter milliseconds: now, since 1970.
  /// - Returns: nil for no answer at all.
  func answer(_ request: PushRequest, at milliseconds: Int64) throws -> FakeProviderAnswer?
  /// What a fault makes of a request that it fits; nil: nothing.
  func answer(_ request: PushRequest, under faults: Faults) -> FakeProviderAnswer?
  /// What is worth keeping of a request besides its path and headers, as members of JSON.
  func record(of request: PushRequest) -> [String: Any]
}

/// What a stand-in says to one request.
struct FakeProviderAnswer: Equatable, Sendable {
  var status: Int
  var headers: [String: String] = [:]
  var body = ""
  /// Goes on record, where the protocol has a word or the stand-in one of its own.
  var reason: String?
  var delaySeconds: Int64 = 0
}
