@testable import RelayCore
import Testing

/// A road to a provider: circuit, probe, room, and who goes first.
@Suite struct RouteTests {
  private let key = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)
  private let outage = Verdict.later(after: nil, .route, .init("InvalidProviderToken"))

  private func lane(_ device: Int, isAlert: Bool = false) -> ReadyLane {
    ReadyLane(partition: PartitionID(1), device: device, route: key, isAlert: isAlert)
  }

  private func take(_ route: inout Route, _ now: Instant) -> Int? { route.next(at: now)?.device }

  private func route(_ room: Int = 2) -> Route {
    Route(inFlightMax: room, probe: .seconds(30))
  }

  @Test func alertsGoFirstAndEachLineKeepsItsOrder() {
    var route = route()
    route.offer(lane(1))
    route.offer(lane(2, isAlert: true))
    route.offer(lane(3))
    route.offer(lane(4, isAlert: true))
    var order: [Int?] = []
    for _ in 0..<5 { order.append(route.next(at: .s(0))?.device) }
    #expect(order == [2, 4, 1, 3, nil])
  }

  @Test func noMoreAreInFlightThanThereIsRoom() {
    var route = route()
    for device in 0..<3 { route.offer(lane(device)) }
    for _ in 0..<2 {
      #expect(take(&route, .s(0)) != nil)
      route.began()
    }
    #expect(take(&route, .s(0)) == nil)
    #expect(route.inFlight == 2 && route.waiting == 1)
    route.ended(.delivered, at: .s(1))
    #expect(take(&route, .s(1)) != nil)
    #expect(route.sent == 2 && route.delivered == 1)
  }

  @Test func aStoppedRouteIsProbedByOneAtATimeUntilItAnswers() {
    var route = route()
    for device in 0..<4 { route.offer(lane(device)) }
    _ = route.next(at: .s(0))
    route.began()
    route.ended(outage, at: .s(1))
    #expect(route.circuit == .open(until: .s(31)) && route.lastError == "InvalidProviderToken")
    #expect(take(&route, .s(30)) == nil)
    #expect(route.nextTimer == .s(31))
    #expect(take(&route, .s(31)) != nil)
    route.began()
    #expect(route.circuit == .probing)
    #expect(take(&route, .s(99)) == nil)
    route.ended(outage, at: .s(32))
    #expect(route.circuit == .open(until: .s(62)))
    _ = route.next(at: .s(62))
    route.began()
    route.ended(.gone(at: nil, .init("Unregistered")), at: .s(63))
    #expect(route.circuit == .closed, "any answer but the route's own trouble is health")
    #expect(take(&route, .s(63)) != nil)
  }

  /// A lane that had nothing to tell when its turn came is no probe.
  @Test func aTurnThatBeganNothingLeavesTheRouteOpenToTheNext() {
    var route = route()
    route.ended(outage, at: .s(0))
    route.offer(lane(1))
    route.offer(lane(2))
    #expect(take(&route, .s(30)) == 1)
    #expect(take(&route, .s(30)) == 2)
    #expect(route.nextTimer == nil)
  }

  @Test func aDevicesTroubleDoesNotStopItsRoute() {
    var route = route()
    route.began()
    route.ended(.later(after: .seconds(9), .device, .init("TooManyRequests")), at: .s(0))
    #expect(route.circuit == .closed && route.lastError == "TooManyRequests")
    route.began()
    route.ended(.delivered, at: .s(1))
    #expect(route.lastError == nil && route.inFlight == 0)
  }

  /// A reload brought another credential.
  @Test func `renewed, a stopped route is probed at once`() {
    var route = route()
    for device in 0..<2 { route.offer(lane(device)) }
    _ = take(&route, .s(0))
    route.began()
    route.ended(outage, at: .s(1))
    #expect(take(&route, .s(2)) == nil)
    route.renew(at: .s(2))
    #expect(route.nextTimer == .s(2))
    #expect(take(&route, .s(2)) == 1)
    route.began()
    #expect(route.circuit == .probing)
    route.renew(at: .s(3))
    #expect(route.circuit == .probing, "what is under way tells soon enough")
    route.ended(.delivered, at: .s(3))
    #expect(route.circuit == .closed)
  }

  @Test func `another probe gap holds from the next refusal on`() {
    var route = route()
    route.offer(lane(1))
    route.adopt(probe: .seconds(5))
    _ = take(&route, .s(0))
    route.began()
    route.ended(outage, at: .s(1))
    #expect(route.circuit == .open(until: .s(6)))
  }
}
