import Foundation
import Testing

/// The number in every push, over restarts of the real binary. A jump in the numbers means that the
/// device may have missed a wake. So a clean stop causes no jump, and a kill never repeats a
/// number.
@Suite(.serialized) struct WakeNumberTests {
  @Test func `wake numbers rise by one over stops and never repeat over kills`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure(
      window: "50ms",
      extra: "budget: { background: { max: 1000, per: 1m, adapt: false } }")
    var daemon = try await RunningDaemon.start(in: workplace)
    let phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: String(repeating: "ab", count: 32))
    try await phone.register()
    try await phone.subscribe(toZone: "Zone")
    var producer = Producer(daemon.web, key: workplace.producerKey)

    /// Reports a change, waits for its push, and returns the numbers of all pushes.
    func wake() async throws -> [Int] {
      let before = try standin.pushes(to: phone.pushToken).count
      let event = producer.event(
        "created", record: "R\(producer.count)", zone: "Zone", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
      #expect(try await Pause.until { try standin.pushes(to: phone.pushToken).count > before })
      #expect(
        try await Pause.until { try await daemon.status()["ledger"]["pending"].int == 0 })
      return try standin.pushes(to: phone.pushToken).map { $0["payload"]["zr"]["w"].int ?? 0 }
    }

    #expect(try await wake() == [1])
    for round in 2...3 {
      #expect(await daemon.stop().status == 0)
      daemon = try await RunningDaemon.start(in: workplace)
      #expect(try await wake() == Array(1...round))
    }
    // A life of the daemon without any wake keeps the number as well.
    #expect(await daemon.stop().status == 0)
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(await daemon.stop().status == 0)
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await wake() == [1, 2, 3, 4])
    await daemon.kill()
    daemon = try await RunningDaemon.start(in: workplace)
    let numbers = try await wake()
    #expect(numbers.prefix(4) == [1, 2, 3, 4])
    #expect(numbers.count >= 5 && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    #expect(await daemon.stop().status == 0)
  }
}
