import Foundation
import Testing

/// A provider that refuses the relay instead of the device: the delay, and the report in `status`.
@Suite(.serialized) struct RefusalTests {
  /// Probes of a wrong credential must not use up the budget. With the budget that Apple advises,
  /// three probes that count against it would delay the wake by an hour.
  @Test func `a device is woken within the bound after its credential is corrected`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let world = try await FaultWorld.start(in: workplace, phones: 1, neighbours: 0, budget: 3)
    var producer = Producer(world.daemon.web, key: workplace.producerKey)
    var tail = PushTail(world.broken)
    try await world.set("answer InvalidProviderToken")
    try await world.change(world.phones, &producer)
    #expect(
      try await Pause.until(seconds: 20) {
        try tail.read()
        return tail.pushes.count >= 5
      }, "probed, and refused each time")
    try await world.set("")
    let mended = Date().timeIntervalSince1970
    #expect(
      try await Pause.until(seconds: 20) {
        try tail.read()
        return tail.pushes.contains { $0.status == 200 }
      })
    let woken = try #require(tail.pushes.first { $0.status == 200 })
    let bound =
      FaultWorld.attemptTimeout + FaultWorld.windowMax
      + max(1.2 * FaultWorld.retryMax, 2 * FaultWorld.probe + FaultWorld.attemptTimeout)
    #expect(woken.time - mended <= bound + 1)
    #expect(await world.stop().status == 0)
  }

  /// With a wrong topic the provider refuses every push, but the route's circuit stays closed and
  /// no device is retired. Only the report in `status` shows the fault.
  @Test func `status reports a route whose pushes are all refused`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let world = try await FaultWorld.start(in: workplace, phones: 3, neighbours: 0)
    var producer = Producer(world.daemon.web, key: workplace.producerKey)
    try await world.set("answer TopicDisallowed")
    try await world.change(world.phones, &producer)
    var status = JSON(nil)
    let isTold = try await Pause.until(seconds: 20) {
      status = try await world.daemon.control("/status")
      return status["reasons"].array.contains {
        let told = "refused, 3 or more since the last that was taken: TopicDisallowed"
        return $0.string?.contains(told) == true
      }
    }
    #expect(isTold && status["healthy"].bool == false, "\(status)")
    try await world.set("")
    try await world.change(world.phones, &producer)
    #expect(
      try await Pause.until(seconds: 20) {
        try await world.daemon.control("/status")["healthy"].bool == true
      })
    #expect(await world.stop().status == 0)
  }
}
