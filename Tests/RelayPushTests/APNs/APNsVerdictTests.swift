import RelayCore
import Testing

@testable import RelayPush

/// An answer that `APNsVerdicts` does not list is no permanent failure: the relay retries the push
/// and counts the answer.
@Suite struct APNsVerdictTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var reason: String?
    var treatment: Treatment
    var verdict: Verdict
    var testDescription: String { "\(status) \(reason ?? "–")" }

    init(_ status: Int, _ reason: String?, _ treatment: Treatment, _ verdict: Verdict) {
      self.status = status
      self.reason = reason
      self.treatment = treatment
      self.verdict = verdict
    }
  }

  private static func later(_ blame: Verdict.Blame, _ reason: String) -> Verdict {
    .later(after: nil, blame, .init(reason))
  }

  /// Every row of Apple's table of answers, and answers that are not in the table.
  static let rows: [Row] =
    [
      Row(200, nil, .delivered, .delivered),
      Row(400, "BadDeviceToken", .stranger, .gone(at: nil, .init("BadDeviceToken"))),
      Row(400, "DeviceTokenNotForTopic", .gone, .gone(at: nil, .init("DeviceTokenNotForTopic"))),
      Row(400, "IdleTimeout", .reconnect, later(.attempt, "IdleTimeout")),
      Row(403, "ExpiredProviderToken", .renew, later(.route, "ExpiredProviderToken")),
      Row(403, "BadCertificate", .route, later(.route, "BadCertificate")),
      Row(
        403, "BadCertificateEnvironment", .route, later(.route, "BadCertificateEnvironment")),
      Row(403, "Forbidden", .route, later(.route, "Forbidden")),
      Row(403, "InvalidProviderToken", .route, later(.route, "InvalidProviderToken")),
      Row(403, "MissingProviderToken", .route, later(.route, "MissingProviderToken")),
      Row(
        403, "UnrelatedKeyIdInToken", .reconnect, later(.attempt, "UnrelatedKeyIdInToken")),
      Row(403, nil, .route, later(.route, "status 403")),
      Row(404, "BadPath", .rejected, .rejected(.init("BadPath"))),
      Row(405, "MethodNotAllowed", .rejected, .rejected(.init("MethodNotAllowed"))),
      Row(410, "Unregistered", .gone, .gone(at: nil, .init("Unregistered"))),
      Row(410, "ExpiredToken", .gone, .gone(at: nil, .init("ExpiredToken"))),
      Row(413, "PayloadTooLarge", .tooLarge, .tooLarge(.init("PayloadTooLarge"))),
      Row(429, "TooManyRequests", .device, later(.device, "TooManyRequests")),
      Row(429, nil, .device, later(.device, "status 429")),
      Row(
        429, "TooManyProviderTokenUpdates", .keep, later(.route, "TooManyProviderTokenUpdates")),
      Row(500, "InternalServerError", .attempt, later(.attempt, "InternalServerError")),
      Row(503, "ServiceUnavailable", .attempt, later(.attempt, "ServiceUnavailable")),
      Row(503, "Shutdown", .reconnect, later(.attempt, "Shutdown")),
      Row(400, "SomethingNew", .unknown, later(.attempt, "SomethingNew")),
      Row(400, nil, .unknown, later(.attempt, "status 400")),
      Row(401, nil, .unknown, later(.attempt, "status 401")),
      Row(404, nil, .unknown, later(.attempt, "status 404")),
      Row(502, nil, .unknown, later(.attempt, "status 502")),
      Row(302, "Moved", .unknown, later(.attempt, "Moved")),
    ]
    + [
      "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
      "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty",
      "TopicDisallowed",
    ].map { Row(400, $0, .rejected, .rejected(.init($0))) }

  @Test(arguments: rows) func `each answer has its verdict`(row: Row) {
    let body = row.reason.map { Array(#"{"reason":"\#($0)"}"#.utf8) } ?? []
    let answer = ProviderAnswer(
      apns: Response(status: row.status, headers: [], body: body, link: LinkID(1)))
    #expect(answer.treatment == row.treatment)
    #expect(answer.verdict == row.verdict)
  }

  @Test func `a gone verdict contains the timestamp of the answer`() {
    let body = Array(#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8)
    let answer = ProviderAnswer(
      apns: Response(status: 410, headers: [], body: body, link: LinkID(1)))
    let since = Instant(milliseconds: 1_700_000_000_123)
    #expect(answer.verdict == .gone(at: since, .init("Unregistered")))
  }

  @Test(
    arguments: [
      ("7", Span.seconds(7)), ("Wed, 21 Oct 2015 07:28:00 GMT", .zero), ("-1", nil), ("1e9", nil),
    ])
  func `the verdict carries the provider's Retry-After`(text: String, span: Span?) {
    let answer = ProviderAnswer(
      apns: Response(status: 429, headers: [("retry-after", text)], body: [], link: LinkID(1)))
    #expect(
      answer.verdict == .later(after: span, .device, .init("status 429")))
  }

  @Test(arguments: ["", "nonsense", "[]", #"{"reason":7}"#, #"{"reason":null}"#])
  func `an answer with an invalid reason is treated as one without a reason`(body: String) {
    let answer = ProviderAnswer(
      apns: Response(status: 500, headers: [], body: Array(body.utf8), link: LinkID(1)))
    #expect(answer.reason == nil)
    #expect(APNsVerdicts.treatment(status: 500, reason: answer.reason) == .unknown)
  }
}
