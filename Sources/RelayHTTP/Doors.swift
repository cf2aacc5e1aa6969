package import RelayCore
package import RelayEngine
import Hummingbird
import Logging
import NIOCore
import RelayWire

/// What stands behind every door of the API: the relay, its reads, keys, clock and who may ask.
package struct Doors: Sendable {
  let relay: any Relaying
  let reader: any FeedReader
  let reads: StoreReads
  let keys: any TokenKeys & IdentityKeys
  let clock: any ClockReader
  let access: ScopeBook
  let limits: HTTPLimits
  let publicURL: String
  let bodies: BodyGate
  let answers: AnswerGate
  let fairness: Fairness
  let turns = ReadingTurns()
  /// Looks into the store: one user's many pages would take its readers, and all threads.
  let looks: CallerTurns
  let courier: Courier

  package init(
    relay: any Relaying, reader: any FeedReader, reads: StoreReads,
    keys: any TokenKeys & IdentityKeys, clock: any ClockReader, access: ScopeBook,
    courier: Courier, settings: HTTPSettings
  ) {
    self.relay = relay
    self.reader = reader
    self.reads = reads
    self.keys = keys
    self.clock = clock
    self.access = access
    limits = settings.limits
    publicURL = settings.publicURL
    bodies = BodyGate(settings.limits)
    answers = AnswerGate(settings.limits)
    fairness = Fairness(settings.limits)
    looks = CallerTurns(
      places: settings.limits.storeLooks, share: settings.limits.storeLooksPerCaller)
    self.courier = courier
  }
}

/// Who asks: a user in a scope, and the installation if it named itself.
struct Caller: Sendable {
  var scope: Scope
  var user: UserID
  var client: ClientID?
  /// How long it waits for what it reads, on the boot clock.
  var until: Instant
  /// What its answer takes.
  var answer: AnswerRoom

  /// Whose shares this request takes.
  var id: CallerID { .user(scope, user) }

  /// The device whose reading counts; nil: it acknowledges nothing.
  var device: DeviceKey? {
    client.map { DeviceKey(scope: scope, user: user, client: $0) }
  }
}
