import Testing

@testable import RelayCore

/// What a route forgets when it gets another provider.
@Suite struct RouteRenewalTests: RouteSuite {
  @Test func `devices that the earlier provider did not answer do not stop the new one`() {
    var route = Route(inFlightMax: 10, probe: .seconds(30), outageDevices: 2)
    func fail(_ device: Int) {
      route.began(id(device))
      _ = route.ended(
        .later(after: nil, .attempt, .init("timeout")), of: id(device), about: about(device),
        at: .s(0))
    }
    fail(1)
    route.renew(at: .s(0))
    fail(2)
    #expect(!route.isStopped)
    fail(3)
    #expect(route.isStopped)
  }
}
