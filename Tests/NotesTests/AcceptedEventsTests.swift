import Foundation
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// Which answers let the sample's poster go on to the next events.
@Suite struct AcceptedEventsTests {
  private func rejected(_ status: Int, _ body: String) -> [String]? {
    AcceptedEvents(RelayAnswer(status: status, body: Data(body.utf8)))?.rejected.map(\.reason)
  }

  @Test func `a 202 accepts all events but the rejected ones`() {
    #expect(rejected(202, #"{"accepted":2,"duplicates":1,"rejected":[]}"#) == [])
    let body = #"{"accepted":1,"duplicates":0,"rejected":[{"index":1,"code":"X","reason":"why"}]}"#
    #expect(rejected(202, body) == ["why"])
    #expect(rejected(400, body) == ["why"])
  }

  @Test func `without a judgement of each event the same events are sent again`() {
    #expect(AcceptedEvents(nil) == nil)
    #expect(rejected(400, #"{"serverErrorCode":"BAD_REQUEST","reason":"not JSON"}"#) == nil)
    #expect(rejected(429, #"{"rejected":[]}"#) == nil)
    #expect(rejected(503, "") == nil)
    #expect(rejected(202, "") == nil)
  }
}
