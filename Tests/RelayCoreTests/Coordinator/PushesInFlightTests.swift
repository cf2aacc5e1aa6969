import Testing

@testable import RelayCore

@Suite struct PushesInFlightTests {
  private func attempt(_ serial: UInt64, over route: RouteKey) -> PushAttempt {
    PushAttempt(
      id: PushAttempt.ID(partition: PartitionID(1), device: 0, serial: serial),
      device: TraceRig.device, route: route, wake: 1, address: Sample.address(1),
      intent: .background, expires: Sample.start, collapse: nil, payload: [])
  }

  @Test func `a push has a sender only while its route is configured`() {
    let web = RouteKey(scope: Sample.scope, transport: .webpush, topic: "")
    let courier = RouteKey(scope: Sample.scope, transport: .courier, topic: "")
    var pushes = PushesInFlight(routes: [CoordinatorRun.route])
    let before = [CoordinatorRun.route, web, courier].map { pushes.add(attempt(1, over: $0)) }
    #expect(before == [true, false, true])
    pushes.reconfigured(started: [web], ended: [CoordinatorRun.route])
    let after = [CoordinatorRun.route, web, courier].map { pushes.add(attempt(2, over: $0)) }
    #expect(after == [false, true, true])
    for serial in UInt64(1)...2 { pushes.ended(attempt(serial, over: web).id) }
    #expect(pushes.isEmpty)
    #expect(!pushes.add(attempt(3, over: CoordinatorRun.route)) && pushes.isEmpty)
  }
}
