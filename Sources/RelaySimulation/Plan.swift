import RelayCore

/// The choices of one seed: topology, workload, limits and fault rates. Each seed switches some
/// operations off (swarm testing), so that rare orders of the other operations occur more often.
struct Plan: Sendable {
  var users = 3
  var homes = 2
  var devicesPerUser = 2
  var zonesPerUser = 2
  var recordNames = 3
  var changes = 40
  var clientActs = 40
  /// How long faults occur in the world.
  var unkind = Span.minutes(5)
  var limits = Limits()
  var policy = WakePolicy()
  var pageMax = 3
  /// How many facts the inbox admits. With 6, the inbox also admits so few bytes that a few records
  /// of usual size fill it.
  var inboxMax = 1_000
  /// The longest time that a fold takes.
  var foldTime = Span(milliseconds: 80)
  /// The most bytes that the store takes in one commit.
  var commitBytes = Int.max
  /// The bounds on the work of one turn, commit or fold, and on what waits. `settings` adds the
  /// other choices.
  var relay = RelaySettings()
  /// How many further changes a request with several changes has at most.
  var batchMax = 1
  /// How many bytes a large value has at most.
  var largeBytesMax = 1
  /// How long a numbered change may be delayed.
  var disorder = Span(milliseconds: 20)
  /// The fetches a second that producers declare.
  var fetchCapacity = 0
  private var rates = [Int](repeating: 0, count: Rate.allCases.count)

  /// How often something happens: in how many of a thousand possible cases, unless a rate's comment
  /// says otherwise.
  enum Rate: Int, CaseIterable, Sendable {
    /// Commits and folds that find a full store, and those whose outcome is unknown.
    case commitFull, commitUnknown, foldFull, foldUnknown
    case crash
    /// A number: how many restores of the store are scheduled, 0 or 1.
    case restores
    /// A higher number makes the relay trim more often.
    case trims
    /// Clean stops that take place; a world has up to four of them.
    case stops
    case answerLost, repeats
    case providerSlow, providerLater, providerGone, providerRejects, providerMute, routeRefused
    case wakeLost, muteDevices, attacks
    /// Requests that have several changes.
    case batches
    /// Starts of the daemon at which the wall clock is wrong by a day or more.
    case wrongClocks
    case shares, zoneEnds, publicChanges, defaultZone
    /// Changes that carry a number, and those of them that are lost.
    case numbered, numbersLost
    /// A number: how many visits to the courier are made.
    case courierVisits
    /// Phones that have only the courier, connections that break during a wake, and background
    /// wakes that are lost.
    case courierOnly, courierBreaks, courierLost
    case visible, unsubscribes, signOuts, tokenSwaps, userSwitches, expiries, readMarks
    /// Records that have a large value.
    case largeRecords
    /// A number: how many users without a phone subscribe to public records.
    case crowd
    /// In thousandths: how often a change is explained after a step, and how often the flight
    /// recorder loses a group of entries.
    case explained, entriesLost
    /// A number of reloads; each takes a route's provider away, or gives it back.
    case reloads
  }

  subscript(rate: Rate) -> Int {
    get { rates[rate.rawValue] }
    set { rates[rate.rawValue] = newValue }
  }

  init(seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x5151)
    users = draw.from(2...5)
    homes = draw.from(1...3)
    devicesPerUser = draw.from(1...2)
    zonesPerUser = draw.from(1...3)
    recordNames = draw.from(1...4)
    changes = draw.pick([8, 25, 60, 120])
    clientActs = draw.pick([10, 30, 80])
    unkind = draw.pick([.seconds(10), .minutes(1), .minutes(10), .hours(2)])
    pageMax = draw.from(1...4)
    inboxMax = draw.pick([2, 6, 1_000])
    foldTime = Span(milliseconds: Int64(draw.pick([20, 80, 2_000])))
    chooseLimits(&draw)
    choosePolicy(&draw)
    chooseFaults(&draw)
    chooseWork(&draw)
    chooseNumbers(seed)
    chooseWakes(seed)
    chooseCourier(seed)
    chooseSmearing(seed)
    chooseSilence(seed)
    chooseLoads(seed)
    chooseExplaining(seed)
  }

  /// Chooses how often the world checks an explanation, how many entries the recorder loses, and
  /// how many reloads there are. A random generator of its own keeps the seed's other choices the
  /// same. Most worlds check no explanation, because the check takes time.
  private mutating func chooseExplaining(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x7272)
    guard draw.below(4) == 0 else { return }
    self[.explained] = draw.from(5...50)
    self[.entriesLost] = draw.below(4) == 0 ? draw.from(1...50) : 0
    self[.reloads] = draw.below(2) == 0 ? draw.from(1...6) : 0
  }

  /// Chooses the smearing with a random generator of its own. The threshold and the rates are low,
  /// because a world has few users: with the lowest values every change is hot, and the slots are
  /// far apart.
  private mutating func chooseSmearing(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x5353)
    guard draw.below(2) == 0 else { return }
    policy.smearing.above = draw.pick([1, 64])
    policy.smearing.rate = draw.pick([nil, 1, 4, 64])
    policy.smearing.longest = .seconds(draw.pick([5, 60, 600]))
    fetchCapacity = draw.pick([0, 2, 1_000])
  }

  /// Chooses the mode of the background budget and the rule of the pruning, with a random generator
  /// of its own, so that the seed's other choices stay the same.
  private mutating func chooseWakes(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x7a7a)
    if draw.below(3) == 0 { policy.mode = .adaptive }
    policy.pruning.hold = .seconds(draw.pick([0, 2, 10]))
    guard draw.below(2) == 0 else { return }
    policy.pruning.least = draw.from(1...3)
    policy.pruning.window = draw.pick([3, 10])
    policy.pruning.quarantine = .seconds(draw.pick([5, 60]))
    policy.pruning.quarantineMax = .minutes(draw.pick([1, 5]))
  }

  /// Chooses `silentAfter` with a random generator of its own. Most values are short, because most
  /// worlds last less than three days.
  private mutating func chooseSilence(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x5a5a)
    policy.silentAfter = draw.pick([.seconds(1), .minutes(1), .minutes(20), .days(3)])
  }

  /// Chooses the use of the courier with a random generator of its own, so that the seed's other
  /// choices stay the same.
  private mutating func chooseCourier(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x4343)
    guard draw.below(2) == 0 else { return }
    self[.courierVisits] = draw.pick([4, 15, 50])
    choose([.courierOnly: 400, .courierBreaks: 300, .courierLost: 500], &draw)
    policy.courierGrace = draw.pick([Span(milliseconds: 200), .seconds(5), .minutes(2)])
  }

  /// Chooses the numbering of changes with a random generator of its own, so that the seed's other
  /// choices stay the same.
  private mutating func chooseNumbers(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x4e4e)
    guard draw.below(2) == 0 else { return }
    self[.numbered] = 200 + draw.below(801)
    choose([.numbersLost: 60], &draw)
    disorder = draw.pick([Span(milliseconds: 20), .seconds(5), .minutes(2)])
    limits.gapAfter = .seconds(draw.pick([2, 30]))
  }

  private mutating func chooseLimits(_ draw: inout SeededRandom) {
    limits.fanOutSlice = draw.pick([1, 2, 1_000])
    limits.fanOuts = draw.pick([1, 3, 100])
    limits.zonesPending = draw.pick([1, 2, 64])
    limits.alertsPending = draw.pick([1, 2, 20])
    limits.notificationsPerUser = draw.pick([4, 10_000, 10_000])
    limits.subscriptionsPerUser = draw.pick([3, 1_000])
    // Room for two subscriptions, or for three small ones.
    if limits.subscriptionsPerUser == 3 { limits.subscriptionBytesPerUser = 300 }
    limits.devicesPerUser = draw.pick([2, 100])
    limits.inFlightPerRoute = draw.pick([1, 2, 1_000])
  }

  private mutating func choosePolicy(_ draw: inout SeededRandom) {
    let per = draw.pick([Span.minutes(1), .minutes(10), .hours(1)])
    policy.background = Budget.Rule(max: draw.from(1...3), per: per)
    policy.alert = Budget.Rule(max: draw.from(1...6), per: per)
    policy.window = Span(milliseconds: Int64(draw.pick([10, 500])))
    policy.deadline = draw.pick([.seconds(30), .hours(24)])
    policy.retryMax = draw.pick([.seconds(10), .minutes(5)])
    policy.probe = .seconds(draw.pick([5, 30]))
    if draw.below(2) == 0 { policy.rewake = [.seconds(5), .minutes(2), .minutes(20)] }
  }

  /// Chooses random rates: each is zero in half of all cases, else from 1 to its value in `most`.
  private mutating func choose(_ most: KeyValuePairs<Rate, Int>, _ draw: inout SeededRandom) {
    for (rate, most) in most { self[rate] = draw.below(2) == 0 ? 0 : 1 + draw.below(most) }
  }

  private mutating func chooseFaults(_ draw: inout SeededRandom) {
    choose(
      [.commitFull: 80, .commitUnknown: 30, .foldFull: 200, .foldUnknown: 30, .crash: 15], &draw)
    self[.restores] = draw.below(6) == 0 ? 1 : 0
    choose(
      [
        .trims: 30, .stops: 300, .answerLost: 150, .repeats: 150, .providerSlow: 300,
        .providerLater: 300, .providerGone: 100, .providerRejects: 100, .providerMute: 150,
        .routeRefused: 80, .wakeLost: 300, .muteDevices: 600, .attacks: 60,
      ], &draw)
  }

  private mutating func chooseWork(_ draw: inout SeededRandom) {
    choose(
      [
        .shares: 300, .zoneEnds: 120, .publicChanges: 500, .defaultZone: 150, .visible: 600,
        .unsubscribes: 200, .signOuts: 80, .tokenSwaps: 100, .userSwitches: 80, .readMarks: 200,
        .expiries: 15,
      ], &draw)
  }

  /// The coordinator's settings.
  var settings: RelaySettings {
    var settings = relay
    (settings.limits, settings.policy) = (limits, policy)
    settings.drainGrace = .seconds(12)
    settings.inboxMax = inboxMax
    settings.isTraced = self[.explained] > 0
    if inboxMax == 6 { settings.inboxBytesMax = 2_000 }
    // A world without trims ends before anything is old enough to remove.
    let kept = self[.trims] > 0 ? Span.seconds(20) : .days(3_650)
    (settings.tombstonesKept, settings.notificationsKept) = (kept, kept)
    settings.trimEvery = self[.trims] > 0 ? .seconds(Int64(31 - self[.trims])) : .days(3_650)
    return settings
  }

  /// Ends all faults: from now on every call works at the first try.
  mutating func calm() {
    let faults: [Rate] = [
      .commitFull, .commitUnknown, .foldFull, .foldUnknown, .crash, .restores, .trims, .stops,
      .answerLost, .repeats, .providerSlow, .providerLater, .providerGone, .providerRejects,
      .providerMute, .routeRefused, .wakeLost, .attacks, .courierBreaks, .courierLost, .batches,
      .wrongClocks,
    ]
    for rate in faults { self[rate] = 0 }
  }

  /// Sets the conditions under which the checkers can find a planted bug.
  mutating func ripen(for mutant: Mutant) {
    let left: [Rate] = [
      .numbered, .courierVisits, .courierOnly, .explained, .entriesLost, .reloads,
    ]
    for rate in left { self[rate] = 0 }
    dropLoads()
    switch mutant {
    case .answersEarly: (self[.crash], self[.commitUnknown]) = (10, 200)
    case .forgetsBudgets: (self[.crash], changes, clientActs) = (15, 120, 80)
    case .asksNoGrant: self[.shares] = 500
    case .trustsTokens: self[.attacks] = 500
    case .neverRefuses: (inboxMax, changes, unkind) = (2, 120, .seconds(10))
    case .dropsPushes: (self[.muteDevices], self[.wakeLost]) = (1_000, 0)
    case .tearsRequests:
      (self[.batches], batchMax, self[.commitUnknown], changes) = (1_000, 20, 30, 60)
      relay.work.commit.facts = 4
    case .commitsEverything:
      (self[.batches], changes, unkind) = (500, 120, .seconds(10))
      relay.work.commit = WorkBounds.Commit(facts: 2, bytes: 600)
    case .triesForEver:
      (self[.largeRecords], largeBytesMax, commitBytes) = (500, 40_000, 8_000)
      (changes, clientActs, unkind) = (10, 10, .seconds(10))
      policy.background.per = .minutes(1)
    case .believesClocks: (self[.wrongClocks], self[.crash], changes) = (1_000, 10, 120)
    case .losesEntries: (self[.explained], changes) = (200, 120)
    case .mixesAlerts: (self[.explained], self[.visible], changes) = (400, 1_000, 120)
    default: break
    }
  }
}
