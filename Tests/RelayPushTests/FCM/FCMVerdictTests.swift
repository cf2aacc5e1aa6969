import RelayCore
import Testing

@testable import RelayPush

@Suite struct FCMVerdictTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var word: String?
    var code: String?
    var treatment: Treatment
    var verdict: Verdict
    var testDescription: String { "\(status) \(code ?? word ?? "–")" }

    init(
      _ status: Int, _ word: String?, _ code: String?, _ treatment: Treatment,
      _ verdict: Verdict
    ) {
      self.status = status
      self.word = word
      self.code = code
      self.treatment = treatment
      self.verdict = verdict
    }

    /// Google's form of an error.
    var body: String {
      guard let word else { return "" }
      let type = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
      let details = code.map { #","details":[{"@type":"\#(type)","errorCode":"\#($0)"}]"# } ?? ""
      return #"{"error":{"code":\#(status),"message":"x","status":"\#(word)"\#(details)}}"#
    }
  }

  private static func later(_ blame: Verdict.Blame, _ reason: String) -> Verdict {
    .later(after: nil, blame, .init(reason))
  }

  /// Every row of Google's table of answers, and answers that are not in the table.
  static let rows: [Row] = [
    Row(200, nil, nil, .delivered, .delivered),
    Row(
      400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", .rejected,
      .rejected(.init("INVALID_ARGUMENT"))),
    Row(400, "INVALID_ARGUMENT", nil, .rejected, .rejected(.init("INVALID_ARGUMENT"))),
    Row(401, "UNAUTHENTICATED", nil, .renew, later(.route, "UNAUTHENTICATED")),
    Row(
      401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR", .rejected,
      .rejected(.init("THIRD_PARTY_AUTH_ERROR"))),
    Row(
      403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH", .gone,
      .gone(at: nil, .init("SENDER_ID_MISMATCH"))),
    Row(403, "PERMISSION_DENIED", nil, .route, later(.route, "PERMISSION_DENIED")),
    Row(404, "NOT_FOUND", "UNREGISTERED", .gone, .gone(at: nil, .init("UNREGISTERED"))),
    Row(404, "NOT_FOUND", nil, .device, later(.device, "NOT_FOUND")),
    Row(404, nil, nil, .device, later(.device, "status 404")),
    Row(403, nil, nil, .device, later(.device, "status 403")),
    Row(403, "FORBIDDEN", "NEW_WORD", .device, later(.device, "NEW_WORD")),
    Row(413, nil, nil, .rejected, .rejected(.init("status 413"))),
    Row(
      429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", .pace,
      .later(after: .minutes(1), .pace, .init("QUOTA_EXCEEDED"))),
    Row(429, nil, nil, .pace, .later(after: .minutes(1), .pace, .init("status 429"))),
    Row(500, "INTERNAL", "INTERNAL", .attempt, later(.attempt, "INTERNAL")),
    Row(503, "UNAVAILABLE", "UNAVAILABLE", .attempt, later(.attempt, "UNAVAILABLE")),
    Row(400, "FAILED_PRECONDITION", nil, .unknown, later(.attempt, "FAILED_PRECONDITION")),
    Row(502, nil, nil, .unknown, later(.attempt, "status 502")),
    Row(302, nil, nil, .unknown, later(.attempt, "status 302")),
  ]

  @Test(arguments: rows) func `each answer has its verdict`(row: Row) {
    let answer = ProviderAnswer(
      fcm: Response(status: row.status, headers: [], body: Array(row.body.utf8), link: LinkID(1)))
    #expect(answer.treatment == row.treatment)
    #expect(answer.verdict == row.verdict)
  }

  @Test(arguments: [("7", Span.seconds(7)), ("Wed, 21 Oct 2015 07:28:00 GMT", .zero), ("-1", nil)])
  func `the verdict carries the provider's Retry-After`(text: String, span: Span?) {
    let answer = ProviderAnswer(
      fcm: Response(status: 503, headers: [("retry-after", text)], body: [], link: LinkID(1)))
    #expect(
      answer.verdict == .later(after: span, .attempt, .init("status 503")))
  }

  @Test(arguments: ["", "nonsense", "[]", #"{"error":7}"#, #"{"error":{"status":null}}"#])
  func `an answer whose body is not an error has no reason`(body: String) {
    let answer = ProviderAnswer(
      fcm: Response(status: 500, headers: [], body: Array(body.utf8), link: LinkID(1)))
    #expect(answer.reason == nil)
  }
}
