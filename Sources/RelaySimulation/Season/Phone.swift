import RelayCore

/// A model of one phone and its app: online or not, in use or not, with a hidden allowance of
/// background runs that depends on the use of the app.
///
/// The model follows what Apple documents. A phone gets two or three background pushes an hour;
/// more pushes are delayed or dropped. An app that was force-quit gets no push until the user opens
/// the app. For an offline phone only the newest push is kept.
struct Phone {
  /// What happens to a push that Apple took.
  enum Arrival: Hashable {
    /// The app runs and fetches after the span.
    case runs(after: Span)
    /// The push waits at Apple until the phone is online, or on the phone until its allowance
    /// suffices. The push replaces one that waited there. `until` is the time of the next check;
    /// nil if no check must be scheduled.
    case waits(until: Instant?)
    /// The app never receives the push.
    case dropped
  }

  let user: UserID
  let client: ClientID
  let traits: Traits
  var token: UInt16
  private(set) var isInstalled = true
  private(set) var isOpen = false
  private(set) var isQuit = false
  private var isAway = false
  private(set) var isAsleep = false
  /// `isStored`: a push waits at Apple until the phone is online. `isHeld`: a push waits on the
  /// phone for its allowance.
  private(set) var isStored = false
  private(set) var isHeld = false
  /// What the phone may still spend on background runs, as of `allowanceAt`. One run costs `run`.
  /// Each millisecond adds `Traits.perHour`, or twice as much in the hour after the app's last use.
  private var allowance: Int64
  private var allowanceAt: Instant
  private var lastOpen: Instant
  /// How long the phone could be reached, up to `countedTo`.
  private var reached = Span.zero
  private var countedTo: Instant
  /// `habits` decides what happens to the phone without pushes, and `luck` what happens to pushes.
  /// The two are separate so that the habits are the same under every rule.
  var habits: SeededRandom
  var luck: SeededRandom
  var fetchedTo: FeedCursor?

  /// The traits of a phone that its owner's habits determine.
  struct Traits {
    /// The average time between two openings of the app by day.
    var opens: Span
    /// Background runs an hour, in thousandths; hidden from the relay.
    var perHour: Int64
    var isOffAtNight: Bool
    /// How many of a thousand openings end with a force-quit.
    var quits: Int
    /// The average time between two losses of the network.
    var absences: Span
    /// The time of day at which the owner goes to sleep, and for how long the owner sleeps.
    var bedtime: Span
    var sleep: Span

    var day: Span { .days(1) - sleep }

    init(_ draw: inout SeededRandom) {
      switch draw.below(4) {
      case 0: (opens, perHour) = (.minutes(30), 4_000 + Int64(draw.below(6_000)))
      case 1, 2: (opens, perHour) = (.minutes(120), 2_000 + Int64(draw.below(2_500)))
      default: (opens, perHour) = (.hours(20), 300 + Int64(draw.below(1_500)))
      }
      isOffAtNight = draw.below(3) == 0
      quits = draw.below(4) == 0 ? 150 : 0
      absences = .hours(Int64(draw.pick([4, 8, 24])))
      bedtime = .minutes(22 * 60 + Int64(draw.below(120)))
      sleep = .minutes(6 * 60 + Int64(draw.below(180)))
    }
  }

  init(user: UserID, client: ClientID, token: UInt16, at now: Instant, _ draw: SeededRandom) {
    var draw = draw
    (self.user, self.client, self.token) = (user, client, token)
    traits = Traits(&draw)
    luck = SeededRandom(seed: draw.next())
    habits = draw
    (allowance, allowanceAt, lastOpen, countedTo) = (3 * Self.run, now, now, now)
  }

  var key: DeviceKey { DeviceKey(scope: World.scope, user: user, client: client) }
  var address: Address {
    Address(
      transport: .apns, topic: World.topic(of: 0),
      token: [UInt8(token >> 8), UInt8(truncatingIfNeeded: token)])
  }

  private var isOnline: Bool { !isAway && !(isAsleep && traits.isOffAtNight) }
  var canFetch: Bool { isInstalled && isOnline }
  /// Whether a push could make the app run, apart from the allowance.
  var isReachable: Bool { isInstalled && isOnline && !isQuit }

  /// How long the phone could be reached since the season began. The freshness of a fetch is
  /// measured in this time.
  mutating func reached(at now: Instant) -> Span {
    if isReachable { reached = reached + (now - countedTo) }
    countedTo = now
    return reached
  }

  /// What one run of the app in the background takes from the phone's `allowance`.
  private static let run = 1_000 * Span.hours(1).milliseconds

  // MARK: Pushes

  /// Decides what happens to a push that has reached Apple for the phone.
  mutating func arrive(at now: Instant) -> Arrival {
    guard isInstalled else { return .dropped }
    guard isOnline else {
      isStored = true
      return .waits(until: nil)
    }
    if isQuit { return .dropped }
    if isOpen { return .runs(after: seconds(1...3)) }
    refill(at: now)
    if allowance >= Self.run {
      allowance -= Self.run
      return .runs(after: seconds(1...20))
    }
    guard luck.below(2) == 0 else { return .dropped }
    defer { isHeld = true }
    return .waits(until: isHeld ? nil : now + untilAllowed)
  }

  /// Delivers the push that waits on the phone, if the allowance suffices. The result is nil if no
  /// push waits or the phone cannot be reached.
  mutating func release(at now: Instant) -> Arrival? {
    guard isHeld, isInstalled, isOnline, !isQuit else { return nil }
    refill(at: now)
    guard allowance >= Self.run else { return .waits(until: now + untilAllowed) }
    isHeld = false
    allowance -= Self.run
    return .runs(after: seconds(1...20))
  }

  /// The rate at which the allowance grows, doubled for an hour after the app's last use.
  private func rate(at now: Instant) -> Int64 {
    now - lastOpen < .hours(1) ? traits.perHour * 2 : traits.perHour
  }

  private mutating func refill(at now: Instant) {
    let gained = (now - allowanceAt).milliseconds * rate(at: now)
    allowance = min(3 * Self.run, allowance + gained)
    allowanceAt = now
  }

  /// The time until `allowance` allows one run of an unused app; the phone checks again then.
  private var untilAllowed: Span {
    Span(milliseconds: (Self.run - allowance) / traits.perHour + 1)
  }

  private mutating func seconds(_ range: ClosedRange<Int>) -> Span {
    .seconds(Int64(luck.from(range)))
  }

  // MARK: What the phone's owner does

  mutating func open(at now: Instant) {
    _ = reached(at: now)
    refill(at: now)
    (isOpen, isQuit, isHeld, lastOpen) = (true, false, false, now)
  }

  mutating func close(at now: Instant, isSwiped: Bool) {
    _ = reached(at: now)
    refill(at: now)
    (isOpen, isQuit, lastOpen) = (false, isSwiped, now)
  }

  /// Records that the phone loses or finds the network.
  ///
  /// - Returns: true if a stored push arrives with the network.
  mutating func move(isAway: Bool, at now: Instant) -> Bool {
    _ = reached(at: now)
    self.isAway = isAway
    return takeStored()
  }

  mutating func sleep(_ isAsleep: Bool, at now: Instant) -> Bool {
    _ = reached(at: now)
    self.isAsleep = isAsleep
    return takeStored()
  }

  private mutating func takeStored() -> Bool {
    guard isOnline, isStored else { return false }
    isStored = false
    return true
  }

  mutating func remove(at now: Instant) {
    _ = reached(at: now)
    (isInstalled, isOpen, isStored, isHeld) = (false, false, false, false)
  }

  mutating func install(token: UInt16, at now: Instant) {
    _ = reached(at: now)
    (isInstalled, isQuit, self.token, fetchedTo) = (true, false, token, nil)
  }
}
