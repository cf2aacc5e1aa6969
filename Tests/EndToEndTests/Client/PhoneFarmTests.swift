import Foundation
import Testing

/// Many simulated phones in one process of `zonerelay phone`, as an app team's CI runs them.
@Suite struct PhoneFarmTests {
  @Test func `a farm of phones on a bad network ends after its time, with sums`() async throws {
    let (workplace, standin) = try await Workplace.withStandin()
    defer { workplace.remove() }
    defer { standin.stop() }
    let daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let events = (1...20).map {
      producer.event("created", record: "r", zone: "Notes", user: "_farm-\($0)")
    }
    #expect(try await producer.post(events).status == 202)
    let clock = ContinuousClock()
    let begin = clock.now
    let ended = try await Program.run(
      [
        "phone", "run", "--relay", workplace.api, "--container", Workplace.container,
        "--user-secret", workplace.file("user.secret").path, "--user", "_farm", "--count", "20",
        "--lossy", "--for", "5s", "--json",
      ], in: workplace)
    #expect(clock.now - begin >= .seconds(5))
    #expect(ended.status == 0, "\(ended.errors)")
    let told = try ended.output.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
    func count(_ event: String) -> Int { told.count { $0["event"] as? String == event } }
    let total = try #require(told.last)
    #expect(total["event"] as? String == "total")
    #expect(count("registered") > 0)
    #expect(total["count"] as? Int == count("registered"))
    #expect(total["pages"] as? Int == count("page"))
    #expect(total["records"] as? Int ?? 0 > 0)
    let why = told.compactMap { $0["why"] as? String }
    // Of some two hundred requests one in ten is cut, and one answer in twenty is lost.
    #expect(why.contains { $0.contains("cut before the relay") })
    #expect(total["why"] as? String == "\(count("failed")) failures")
    #expect(await daemon.stop().status == 0)
  }

  /// Port 9 of loopback has no server. The command must not report a success to an app team's CI.
  @Test func `a phone that fetched nothing in its time has failed`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    try Data("a secret of thirty-two characters".utf8).write(to: workplace.file("user.secret"))
    let ended = try await Program.run(
      [
        "phone", "run", "--relay", "http://127.0.0.1:9", "--container", Workplace.container,
        "--user-secret", workplace.file("user.secret").path, "--once", "--for", "2s",
      ], in: workplace)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("not everything was fetched"), "\(ended.errors)")
  }
}
