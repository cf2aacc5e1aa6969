@testable import RelayCore
import Testing

/// Pushes that a provider refuses for good: when operators get a report, and when the refusals
/// concern only one user.
@Suite struct RouteRefusalTests: RouteSuite {
  /// Earlier, every push was refused for a wrong topic, and the route looked healthy.
  @Test func `a route counts users with refused pushes until a push is delivered`() {
    var route = route()
    for attempt in 1...3 {
      route.began(id(attempt))
      _ = route.ended(
        .rejected(.init("TopicDisallowed")), of: id(attempt), about: about(attempt), at: .s(0))
    }
    #expect(route.refusals == Route.refusalsTold && route.circuit.state == .closed)
    route.began(id(4))
    _ = route.ended(.delivered, of: id(4), about: about(4), at: .s(1))
    #expect(route.refusals == 0)
  }

  /// A user may register endpoints of the user's own that refuse every push.
  @Test func `refusals for one or two users do not count against the route`() {
    var route = route()
    func refuse(_ attempt: Int, of user: Int) {
      route.began(id(attempt))
      _ = route.ended(
        .rejected(.init("status 400")), of: id(attempt), about: about(user), at: .s(0))
    }
    route.began(id(99))
    _ = route.ended(.delivered, of: id(99), about: about(1), at: .s(0))
    for attempt in 1...50 { refuse(attempt, of: 1 + attempt % 2) }
    #expect(route.refusals < Route.refusalsTold)
    for user in 3...9 { refuse(50 + user, of: user) }
    #expect(route.refusals == Route.refusalsTold, "no more users are kept than are told of")
  }

  /// On the first day of a relay there may be one device only, and its topic may be wrong.
  @Test func `before a first delivery, one user's refusals count against the route`() {
    var route = route()
    for attempt in 1...4 {
      route.began(id(attempt))
      _ = route.ended(
        .rejected(.init("TopicDisallowed")), of: id(attempt), about: about(1), at: .s(0))
    }
    #expect(route.refusals == Route.refusalsTold)
    route.renew(at: .s(1))
    #expect(route.refusals == 0)
  }
}
