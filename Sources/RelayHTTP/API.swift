package import RelayCore
package import RelayEngine
import Hummingbird
import Logging
import NIOCore
import RelayWire

/// All parts of the API: what requests share, and one controller for each resource.
package final class API: Sendable {
  let access: ScopeRegistry
  let clock: any ClockReader
  let limits: HTTPLimits
  let bodies: BodyMemoryLimit
  let answers: AnswerMemoryLimit
  let fairness: Fairness
  let turns = ReadingTurns()
  let courier: Courier
  let courierAddresses: CourierAddresses
  let feeds: FeedAccess
  let authentication: CallerAuthentication

  let health: HealthController
  let events: EventsController
  let couriers: CourierController
  let tokens: TokensController
  let subscriptions: SubscriptionsController
  let zones: ZonesController
  let databaseChanges: DatabaseChangesController
  let zoneChanges: ZoneChangesController
  let notifications: NotificationsController

  package init(
    relay: any RelayService, reader: any FeedReader, reads: StoreReads,
    keys: any TokenKeys & IdentityKeys, clock: any ClockReader, access: ScopeRegistry,
    courier: Courier, settings: HTTPSettings
  ) {
    let limits = settings.limits
    self.access = access
    self.clock = clock
    self.limits = limits
    self.courier = courier
    bodies = BodyMemoryLimit(limits)
    answers = AnswerMemoryLimit(limits)
    fairness = Fairness(limits)
    courierAddresses = CourierAddresses(
      keys: keys, clock: clock, publicURL: settings.publicURL, limits: limits)
    let submissions = Submissions(relay: relay, fairness: fairness, clock: clock)
    feeds = FeedAccess(
      relay: relay, reader: reader, reads: reads, keys: keys, clock: clock, limits: limits,
      looks: CallerTurns(places: limits.storeLooks, share: limits.storeLooksPerCaller),
      submissions: submissions)
    authentication = CallerAuthentication(fairness: fairness, clock: clock, limits: limits)

    health = HealthController(relay: relay)
    events = EventsController(
      relay: relay, feeds: feeds, submissions: submissions, authentication: authentication,
      keys: keys, fairness: fairness, bodies: bodies, answers: answers, turns: turns,
      limits: limits)
    couriers = CourierController(
      courier: courier, feeds: feeds, relay: relay, addresses: courierAddresses, access: access,
      fairness: fairness, clock: clock, limits: limits)
    tokens = TokensController(
      feeds: feeds, submissions: submissions, relay: relay, keys: keys,
      courier: courierAddresses, limits: limits)
    subscriptions = SubscriptionsController(
      feeds: feeds, submissions: submissions, limits: limits)
    zones = ZonesController(feeds: feeds, limits: limits)
    databaseChanges = DatabaseChangesController(
      feeds: feeds, relay: relay, keys: keys, limits: limits)
    zoneChanges = ZoneChangesController(feeds: feeds, relay: relay, limits: limits)
    notifications = NotificationsController(
      feeds: feeds, submissions: submissions, relay: relay, limits: limits)
  }
}

/// The caller of a request: a user in a scope, and the installation if the request names one.
struct Caller: Sendable {
  var scope: Scope
  var user: UserID
  var client: ClientID?
  /// When the request stops waiting for what it reads, on the boot clock.
  var until: Instant
  /// The memory reserved for the request's answer.
  var answer: AnswerRoom

  /// The caller against whose shares this request counts.
  var id: CallerID { .user(scope, user) }

  /// The device that acknowledges what this request reads; `nil` means that the request names no
  /// installation and acknowledges nothing.
  var device: DeviceKey? {
    client.map { DeviceKey(scope: scope, user: user, client: $0) }
  }
}
