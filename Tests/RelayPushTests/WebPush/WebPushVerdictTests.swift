import RelayCore
import Testing

@testable import RelayPush

@Suite struct WebPushVerdictTests {
  private static func later(_ reason: String) -> Verdict {
    .later(after: nil, .device, .init(reason))
  }

  static let rows: [(Int, Treatment, Verdict)] = [
    (200, .delivered, .delivered), (201, .delivered, .delivered), (202, .delivered, .delivered),
    (204, .delivered, .delivered),
    (400, .rejected, .rejected(.init("status 400"))),
    (401, .rejected, .rejected(.init("VapidRefused"))),
    (403, .rejected, .rejected(.init("VapidRefused"))),
    (404, .gone, .gone(at: nil, .init("SubscriptionGone"))),
    (405, .rejected, .rejected(.init("status 405"))),
    (410, .gone, .gone(at: nil, .init("SubscriptionGone"))),
    (413, .tooLarge, .tooLarge(.init("PayloadTooLarge"))),
    (415, .rejected, .rejected(.init("status 415"))),
    (429, .device, later("TooManyRequests")), (408, .device, later("status 408")),
    (500, .device, later("status 500")), (502, .device, later("status 502")),
    (503, .device, later("status 503")),
    (301, .unknown, later("status 301")), (307, .unknown, later("status 307")),
    (418, .unknown, later("status 418")),
  ]

  @Test(arguments: rows)
  func `each answer has its verdict`(
    status: Int, treatment: Treatment, verdict: Verdict
  ) {
    #expect(WebPushVerdicts.treatment(status: status) == treatment)
    #expect(WebPushVerdicts.verdict(Response(status: status, headers: [], body: [])) == verdict)
  }

  @Test func `the verdict carries the answer's Retry-After`() {
    let answer = Response(status: 503, headers: [("retry-after", "9")], body: [])
    #expect(
      WebPushVerdicts.verdict(answer)
        == .later(after: .seconds(9), .device, .init("status 503")))
  }

  /// A push that was never sent costs the device no budget. A push with an unknown outcome costs
  /// budget.
  @Test(arguments: [
    (TransportFailure.Code.unreachable, Verdict.Blame.unsent), (.full, .unsent),
    (.notTaken, .unsent), (.timeout, .device),
    (.lost, .device), (.stopped, .recalled), (.cutOff, .attempt), (.reset, .device),
    (.takenBack, .recalled),
  ])
  func `only a push that was never sent counts as unsent`(
    code: TransportFailure.Code, blame: Verdict.Blame
  ) {
    #expect(
      WebPushVerdicts.verdict(TransportFailure(code, "x")) == .later(after: nil, blame, .init("x")))
  }

  /// One user's endpoint must not stop the route for other users.
  @Test(arguments: [
    TransportFailure.Code.timeout, .address, .unreachable, .lost, .invalid, .full, .stopped,
    .cutOff, .reset, .takenBack,
  ])
  func `no failure and no answer stops the route`(code: TransportFailure.Code) {
    var verdicts = [WebPushVerdicts.verdict(TransportFailure(code, "x"))]
    verdicts += (100..<600).map {
      WebPushVerdicts.verdict(Response(status: $0, headers: [], body: []))
    }
    for case .later(_, .route, let reason) in verdicts { Issue.record("\(reason)") }
  }
}
