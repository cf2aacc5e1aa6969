@testable import RelayCore
import Testing

/// A route to a provider: circuit, probe, room, and the order of its lanes.
@Suite struct RouteTests: RouteSuite {
  private let key = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)
  private let outage = Verdict.later(after: nil, .route, .init("InvalidProviderToken"))

  private func lane(_ device: Int, isAlert: Bool = false, isRetry: Bool = false) -> ReadyLane {
    ReadyLane(
      partition: PartitionID(1), device: device, route: key, isAlert: isAlert, isRetry: isRetry)
  }

  private func take(_ route: inout Route, _ now: Instant) -> Int? { route.next(at: now)?.device }

  @Test func `alerts go first and each queue keeps its order`() {
    var route = route()
    route.offer(lane(1))
    route.offer(lane(2, isAlert: true))
    route.offer(lane(3))
    route.offer(lane(4, isAlert: true))
    var order: [Int?] = []
    for _ in 0..<5 { order.append(route.next(at: .s(0))?.device) }
    #expect(order == [2, 4, 1, 3, nil])
  }

  @Test func `retries take every fourth turn while other lanes wait`() {
    var route = route(100)
    for device in 1...4 { route.offer(lane(device, isRetry: true)) }
    for device in 11...15 { route.offer(lane(device)) }
    route.offer(lane(5, isAlert: true, isRetry: true))
    route.offer(lane(16, isAlert: true))
    var order: [Int?] = []
    for _ in 0..<12 { order.append(take(&route, .s(0))) }
    #expect(order == [16, 5, 11, 12, 13, 1, 14, 15, 2, 3, 4, nil])
    // Retries took turns while no other lane waited. These turns delay no lane that comes later.
    route.offer(lane(17))
    route.offer(lane(6, isRetry: true))
    #expect(take(&route, .s(0)) == 17)
  }

  /// FCM's status 429 means that the route sends too many pushes at once. The status is no outage.
  @Test func `a throttled route has less room until the provider answers again`() {
    var route = route(1_000)
    func room() -> Int {
      for device in 1...1_000 { route.offer(lane(device)) }
      var taken = 0
      while let device = take(&route, .s(0)) {
        route.began(id(device))
        taken += 1
      }
      for device in 0..<taken {
        _ = route.ended(.rejected(.init("x")), of: id(device), about: about(device), at: .s(0))
      }
      return taken
    }
    #expect(room() == 1_000)
    func slow() {
      route.began(id(1))
      let verdict = Verdict.later(after: .minutes(1), .pace, .init("QUOTA_EXCEEDED"))
      _ = route.ended(verdict, of: id(1), about: about(1), at: .s(0))
    }
    for _ in 0..<3 { slow() }
    #expect(!route.isStopped && route.lastError == "QUOTA_EXCEEDED")
    #expect((400...450).contains(room()))
    for _ in 0..<200 { slow() }
    #expect(room() == Circuit.roomAtLeast)
    #expect(room() == 2 * Circuit.roomAtLeast, "one more with each answer")
  }

  @Test func `a route has no more pushes in flight than its room allows`() {
    var route = route()
    for device in 0..<3 { route.offer(lane(device)) }
    for _ in 0..<2 {
      #expect(take(&route, .s(0)) != nil)
      route.began(id(1))
    }
    #expect(take(&route, .s(0)) == nil)
    #expect(route.inFlight == 2 && route.waiting == 1)
    _ = route.ended(.delivered, of: id(1), about: about(1), at: .s(1))
    #expect(take(&route, .s(1)) != nil)
    #expect(route.sent == 2 && route.delivered == 1)
  }

  @Test func `one push at a time probes a stopped route until the provider answers`() {
    var route = route()
    for device in 0..<4 { route.offer(lane(device)) }
    _ = route.next(at: .s(0))
    route.began(id(1))
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(1))
    #expect(route.circuit.state == .open(until: .s(31)))
    #expect(route.lastError == "InvalidProviderToken")
    #expect(take(&route, .s(30)) == nil)
    #expect(route.nextTimer == .s(31))
    #expect(take(&route, .s(31)) != nil)
    route.began(id(1))
    #expect(route.circuit.state == .probing)
    #expect(take(&route, .s(99)) == nil)
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(32))
    #expect(route.circuit.state == .open(until: .s(62)))
    _ = route.next(at: .s(62))
    route.began(id(1))
    _ = route.ended(.gone(at: nil, .init("Unregistered")), of: id(1), about: about(1), at: .s(63))
    #expect(route.circuit.state == .closed, "any answer but the route's own trouble is health")
    #expect(take(&route, .s(63)) != nil)
  }

  /// A lane that had nothing to tell when its turn came is no probe.
  @Test func `a turn that began nothing leaves the probe to the next lane`() {
    var route = route()
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(0))
    route.offer(lane(1))
    route.offer(lane(2))
    #expect(take(&route, .s(30)) == 1)
    #expect(take(&route, .s(30)) == 2)
    #expect(route.nextTimer == nil)
  }

  @Test func `an error of one device does not stop its route`() {
    var route = route()
    route.began(id(1))
    let answer = Verdict.later(after: .seconds(9), .device, .init("TooManyRequests"))
    _ = route.ended(answer, of: id(1), about: about(1), at: .s(0))
    #expect(route.circuit.state == .closed && route.lastError == "TooManyRequests")
    route.began(id(1))
    _ = route.ended(.delivered, of: id(1), about: about(1), at: .s(1))
    #expect(route.lastError == nil && route.inFlight == 0)
  }

  /// A reload brought another credential.
  @Test func `a renewed route that was stopped is probed at once`() {
    var route = route()
    for device in 0..<2 { route.offer(lane(device)) }
    _ = take(&route, .s(0))
    route.began(id(1))
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(1))
    #expect(take(&route, .s(2)) == nil)
    route.renew(at: .s(2))
    #expect(route.nextTimer == .s(2))
    #expect(take(&route, .s(2)) == 1)
    route.began(id(1))
    #expect(route.circuit.state == .probing)
    _ = route.ended(.delivered, of: id(1), about: about(1), at: .s(3))
    #expect(route.circuit.state == .closed)
  }

  /// Earlier, the probe at the old provider ended after ten seconds without an answer, and then
  /// stopped the route to the new provider.
  @Test func `a renewed route ignores the probe that is under way`() {
    var route = route()
    for device in 0..<3 { route.offer(lane(device)) }
    _ = take(&route, .s(0))
    route.began(id(1))
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(1))
    _ = take(&route, .s(41))
    route.began(id(2))
    #expect(route.circuit.state == .probing)
    route.renew(at: .s(42))
    #expect(take(&route, .s(42)) != nil)
    route.began(id(3))
    _ = route.ended(silence, of: id(2), about: about(2), at: .s(43))
    #expect(route.circuit.state == .probing)
    _ = route.ended(.delivered, of: id(3), about: about(3), at: .s(43))
    #expect(route.circuit.state == .closed)
  }

  @Test func `a changed probe interval applies from the next refusal`() {
    var route = route()
    route.offer(lane(1))
    route.reconfigure(probe: .seconds(5), pruning: Pruning.Rule())
    _ = take(&route, .s(0))
    route.began(id(1))
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(1))
    #expect(route.circuit.state == .open(until: .s(6)))
  }

  private let silence = Verdict.later(after: nil, .attempt, .init("timeout"))

  /// An outage uses up no device's attempts. Twenty devices in a row without an answer are an
  /// outage; one device without an answer is not.
  @Test func `many devices in a row without an answer stop the route`() {
    var route = route(100)
    for _ in 0..<50 {
      route.began(id(1))
      _ = route.ended(silence, of: id(1), about: about(1), at: .s(0))
    }
    #expect(route.circuit.state == .closed && route.lastError == "timeout")
    for device in 2..<20 {
      route.began(id(device))
      _ = route.ended(silence, of: id(device), about: about(device), at: .s(1))
    }
    #expect(route.circuit.state == .closed)
    route.began(id(20))
    let unsent = Verdict.later(after: nil, .unsent, .init("unreachable"))
    _ = route.ended(unsent, of: id(20), about: about(20), at: .s(2))
    #expect(route.circuit.state == .open(until: .s(32)) && route.lastError == "unreachable")
  }

  @Test(arguments: [
    Verdict.delivered, .later(after: nil, .device, .init("TooManyRequests")),
    .gone(at: nil, .init("Unregistered")), .rejected(.init("BadTopic")),
  ])
  func `one answer between timeouts keeps the circuit closed`(_ answer: Verdict) {
    var route = route(100)
    for device in 1...38 {
      route.began(id(device))
      _ = route.ended(
        device == 19 ? answer : silence, of: id(device), about: about(device), at: .s(0))
    }
    #expect(route.circuit.state == .closed)
  }

  /// Each browser's endpoint has a provider of its own. At the courier each device is its own
  /// provider.
  @Test func `timeouts do not stop a route where each device has its own provider`() {
    var route = Route(inFlightMax: 100, probe: .seconds(30), outageDevices: nil)
    for device in 1...100 {
      route.began(id(device))
      _ = route.ended(silence, of: id(device), about: about(device), at: .s(0))
    }
    #expect(route.circuit.state == .closed)
    #expect(!Transport.courier.isOneProvider && !Transport.webpush.isOneProvider)
  }

  /// Earlier, an attempt that began before the stop ended with a timeout and closed the circuit,
  /// though the provider still refused all pushes.
  @Test func `only an answer to the probe closes the circuit again`() {
    var route = route(3)
    for device in 1...3 {
      route.offer(lane(device))
      _ = take(&route, .s(0))
      route.began(id(device))
    }
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(0))
    route.offer(lane(4))
    _ = take(&route, .s(30))
    route.began(id(4))
    #expect(route.circuit.state == .probing)
    _ = route.ended(silence, of: id(2), about: about(2), at: .s(31))
    _ = route.ended(.delivered, of: id(3), about: about(3), at: .s(31))
    #expect(route.circuit.state == .probing && route.lastError == "InvalidProviderToken")
    _ = route.ended(silence, of: id(4), about: about(4), at: .s(32))
    #expect(route.circuit.state == .open(until: .s(62)) && route.lastError == "timeout")
    route.offer(lane(5))
    _ = take(&route, .s(62))
    route.began(id(5))
    _ = route.ended(.delivered, of: id(5), about: about(5), at: .s(63))
    #expect(route.circuit.state == .closed && route.lastError == nil)
  }

  /// The probe began before the route last stopped, or before the route got a new provider.
  /// An earlier version of the relay closed the circuit at the answer to such a probe.
  @Test(arguments: [false, true])
  func `an outdated probe does not close the circuit`(isRenewed: Bool) {
    var route = route(3)
    for device in 1...2 {
      route.offer(lane(device))
      _ = take(&route, .s(0))
      route.began(id(device))
    }
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(0))
    route.offer(lane(3))
    _ = take(&route, .s(30))
    route.began(id(3))
    if isRenewed {
      route.renew(at: .s(31))
    } else {
      _ = route.ended(outage, of: id(2), about: about(2), at: .s(31))
    }
    let circuit = Circuit.State.open(until: isRenewed ? .s(31) : .s(61))
    #expect(route.circuit.state == circuit)
    _ = route.ended(.delivered, of: id(3), about: about(3), at: .s(32))
    #expect(route.circuit.state == circuit)
  }

  @Test func `a recovered provider gets few pushes first and more with each answer`() {
    var route = route(200)
    for device in 1...200 { route.offer(lane(device)) }
    func fill() -> Int {
      var taken = 0
      while let device = take(&route, .s(60)) {
        route.began(id(device))
        taken += 1
      }
      return taken
    }
    _ = take(&route, .s(0))
    route.began(id(1))
    _ = route.ended(outage, of: id(1), about: about(1), at: .s(0))
    _ = take(&route, .s(60))
    route.began(id(2))
    _ = route.ended(.delivered, of: id(2), about: about(2), at: .s(60))
    #expect(fill() == Circuit.roomAfterStop + 1)
    for device in 3..<53 {
      _ = route.ended(.delivered, of: id(device), about: about(device), at: .s(60))
    }
    #expect(route.inFlight == 1)
    #expect(fill() == 100, "answered fifty, a hundred more")
  }

  /// An endpoint that never answers belongs to one user, so each user has only a share of the
  /// route's room.
  @Test func `a user has a share of a route where each device has its own provider`() {
    var route = Route(inFlightMax: 6, probe: .seconds(30), outageDevices: nil, inFlightPerUser: 2)
    func lane(_ device: Int, of user: Int) -> ReadyLane {
      ReadyLane(
        partition: PartitionID(1), device: device, route: key, isAlert: false, user: user)
    }
    func fill() -> [Int] {
      var begun: [Int] = []
      while let lane = route.next(at: .s(0)) {
        route.began(id(lane.device), of: lane)
        begun.append(lane.device)
      }
      return begun
    }
    func end(_ device: Int) {
      _ = route.ended(
        .later(after: nil, .attempt, .init("timeout")), of: id(device), about: about(device),
        at: .s(1))
    }
    for device in 1...50 { route.offer(lane(device, of: 1)) }
    for device in 101...103 { route.offer(lane(device, of: 2)) }
    route.offer(lane(201, of: 3))
    #expect(fill() == [1, 2, 101, 102, 201])
    #expect(route.waiting == 0, "the others wait for their users' own attempts")
    end(101)
    #expect(fill() == [103])
    end(1)
    end(2)
    #expect(fill() == [3, 4])
    route.offer(lane(104, of: 2))
    #expect(fill() == [], "its user has its share")
    for device in [102, 103] { end(device) }
    #expect(fill() == [104])
    for device in [3, 4, 201, 104] { end(device) }
    #expect(fill() == [5, 6] && route.inFlight == 2)
    for device in 5...50 {
      end(device)
      _ = fill()
    }
    #expect(route.inFlight == 0 && route.waiting == 0)
  }

  /// The number of a device may be given to another user's device while the earlier owner's lane
  /// still waits for that owner's share of the route.
  @Test func `a device's new owner does not wait for the former owner's share`() {
    var route = Route(inFlightMax: 3, probe: .seconds(30), outageDevices: nil, inFlightPerUser: 2)
    func lane(_ device: Int, of user: Int) -> ReadyLane {
      ReadyLane(
        partition: PartitionID(1), device: device, route: key, isAlert: false, user: user)
    }
    func begin(_ lane: ReadyLane) {
      #expect(route.next(at: .s(0)) == lane)
      route.began(id(lane.device), of: lane)
    }
    let others = [lane(1, of: 1), lane(2, of: 1), lane(4, of: 3)]
    for lane in others { route.offer(lane) }
    for lane in others { begin(lane) }
    for user in 1...2 { route.offer(lane(3, of: user)) }
    #expect(route.next(at: .s(0)) == nil, "the route has no room")
    _ = route.ended(.delivered, of: id(4), about: about(4), at: .s(1))
    begin(lane(3, of: 2))
    // The earlier owner's lane still gets the turn that it waits for.
    route.offer(lane(3, of: 2))
    _ = route.ended(.delivered, of: id(1), about: about(1), at: .s(1))
    begin(lane(3, of: 2))
    _ = route.ended(.delivered, of: id(2), about: about(1), at: .s(1))
    #expect(route.next(at: .s(1)) == lane(3, of: 1))
  }

  /// A lane may have nothing left to tell when its turn comes. Earlier, the other lanes of the same
  /// user waited for an attempt that never began, and a reused device number was queued once for
  /// each owner.
  @Test func `a lane with nothing to tell lets the next lane take its turn`() {
    var route = Route(inFlightMax: 6, probe: .seconds(30), outageDevices: nil, inFlightPerUser: 2)
    func lane(_ device: Int) -> ReadyLane {
      ReadyLane(partition: PartitionID(1), device: device, route: key, isAlert: false, user: 1)
    }
    for device in 1...2 {
      route.offer(lane(device))
      if let lane = route.next(at: .s(0)) { route.began(id(device), of: lane) }
    }
    for _ in 0..<3 {
      for device in 3...9 { route.offer(lane(device)) }
      #expect(route.next(at: .s(0)) == nil, "the user has its share")
    }
    for device in 1...2 {
      _ = route.ended(.delivered, of: id(device), about: about(device), at: .s(1))
    }
    var turns: [Int] = []
    while let lane = route.next(at: .s(1)) {
      turns.append(lane.device)
      route.declined(lane)
    }
    #expect(turns == Array(3...9))
    #expect(route.inFlight == 0 && route.waiting == 0)
  }
}
