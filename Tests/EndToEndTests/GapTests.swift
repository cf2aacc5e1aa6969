import Foundation
import Testing

/// The producer's numbers on the real binary: missing numbers are shown, also after a kill -9.
@Suite(.serialized) struct GapTests {
  private func numbered(
    _ number: Int, _ record: String, _ producer: inout Producer
  ) -> [String: Any] {
    var event = producer.event("updated", record: record, zone: "Notes", user: "_abc")
    var data = event["data"] as? [String: Any] ?? [:]
    data["sequence"] = number
    event["data"] = data
    return event
  }

  private func gap(_ phone: Phone) async throws -> Bool? {
    let wanted = ["zoneID": ["zoneName": "Notes", "ownerRecordName": phone.user]]
    let answer = try await phone.web.post(
      "/database/1/\(phone.scope)/private/changes/zone", ["zones": [wanted]],
      token: phone.userToken)
    return answer.json["zones"][0]["gap"].bool
  }

  @Test func `a missing number is a gap until its change arrives`() async throws {
    let (workplace, _) = try await Workplace.withStandin(extra: "limits: { gapAfter: 1s }")
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    var phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ab", count: 32))
    var producer = Producer(daemon.web, key: workplace.producerKey)
    // The change with number 2 arrives last, but the change with number 3 is the later one of
    // record A.
    let late = numbered(2, "A", &producer)
    let early = [numbered(1, "A", &producer), numbered(3, "A", &producer)]
    #expect(try await producer.post(early).status == 202)
    #expect(try await gap(phone) == nil)
    await daemon.kill()
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await Pause.until { try await gap(phone) == true })
    await daemon.kill()
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await gap(phone) == true)
    let answer = try await producer.post([late])
    #expect(answer.status == 202 && answer.json["accepted"].int == 1)
    #expect(try await gap(phone) == nil)
    try await phone.catchUp(page: 200)
    #expect(phone.zones == producer.net)
    #expect(await daemon.stop().status == 0)
  }
}
