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
  /// How many facts the inbox admits. With 6, a few records of usual size reach its bytes too.
  var inboxMax = 1_000
  /// The longest time that a fold takes.
  var foldTime = Span(milliseconds: 80)
  /// The most bytes that the store takes in one commit.
  var commitBytes = Int.max
  /// The bounds on the work of one turn, commit or fold; the next three values are further limits.
  var work = WorkBounds()
  var journalTailMax = RelaySettings().journalTailMax
  var entriesUncutMax = RelaySettings().entriesUncutMax
  var answerWithin = RelaySettings().answerWithin
  /// How many of a thousand requests have several changes, and how many further changes such a
  /// request has at most.
  var batches = 0
  var batchMax = 1
  var large = LargeValues()
  /// How many users without a phone subscribe to public records.
  var crowd = 0
  /// How many of a thousand starts of the daemon have a wall clock that is far off.
  var wrongClocks = 0

  /// How many of a thousand commits find a full store. The rates below are of a thousand too,
  /// except `restores` (0 or 1), `trims` (the more, the more often) and `courierVisits` (a number).
  var commitFull = 0
  var commitUnknown = 0
  var foldFull = 0
  var foldUnknown = 0
  var crash = 0
  var restores = 0
  var trims = 0
  /// How many of a thousand clean stops take place; a world has up to four of them.
  var stops = 0
  var answerLost = 0
  var repeats = 0
  var providerSlow = 0
  var providerLater = 0
  var providerGone = 0
  var providerRejects = 0
  var providerMute = 0
  var routeRefused = 0
  var wakeLost = 0
  var muteDevices = 0
  var shares = 0
  var zoneEnds = 0
  var publicChanges = 0
  var defaultZone = 0
  /// How many of a thousand changes carry a number, and how many of a thousand such changes are
  /// lost.
  var numbered = 0
  var numbersLost = 0
  /// How long a numbered change may be delayed.
  var disorder = Span(milliseconds: 20)
  /// How many visits to the courier are made. The other three are of a thousand: phones that have
  /// only the courier, connections that break during a wake, and background wakes that are lost.
  var courierVisits = 0
  var courierOnly = 0
  var courierBreaks = 0
  var courierLost = 0
  var visible = 0
  var unsubscribes = 0
  var signOuts = 0
  var tokenSwaps = 0
  var userSwitches = 0
  var expiries = 0
  var attacks = 0
  var readMarks = 0
  /// The fetches a second that producers declare.
  var fetchCapacity = 0
  var explaining = Explaining()

  /// How many of a thousand records have a large value, and how many bytes such a value has at
  /// most.
  struct LargeValues: Sendable {
    var records = 0
    var bytesMax = 1
  }

  /// After how many of a thousand steps a change is explained; how many of a thousand groups of
  /// entries the flight recorder loses; and how many reloads take a route's provider away, or give
  /// it back.
  struct Explaining: Sendable {
    var steps = 0
    var lost = 0
    var reloads = 0
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

  /// Chooses the explanations with a random generator of its own, so that the seed's other choices
  /// stay the same. Most worlds have none, because they cost time.
  private mutating func chooseExplaining(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x7272)
    guard draw.below(4) == 0 else { return }
    explaining.steps = draw.from(5...50)
    explaining.lost = draw.below(4) == 0 ? draw.from(1...50) : 0
    explaining.reloads = draw.below(2) == 0 ? draw.from(1...6) : 0
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

  /// Chooses the mode and the pruning with a random generator of its own, so that the seed's other
  /// choices stay the same.
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
    courierVisits = draw.pick([4, 15, 50])
    courierOnly = rate(&draw, 400)
    courierBreaks = rate(&draw, 300)
    courierLost = rate(&draw, 500)
    policy.courierGrace = draw.pick([Span(milliseconds: 200), .seconds(5), .minutes(2)])
  }

  /// Chooses the numbering of changes with a random generator of its own, so that the seed's other
  /// choices stay the same.
  private mutating func chooseNumbers(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x4e4e)
    guard draw.below(2) == 0 else { return }
    numbered = 200 + draw.below(801)
    numbersLost = rate(&draw, 60)
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

  /// A random rate: zero in half of all cases, otherwise up to `most`.
  private func rate(_ draw: inout SeededRandom, _ most: Int) -> Int {
    draw.below(2) == 0 ? 0 : 1 + draw.below(most)
  }

  private mutating func chooseFaults(_ draw: inout SeededRandom) {
    commitFull = rate(&draw, 80)
    commitUnknown = rate(&draw, 30)
    foldFull = rate(&draw, 200)
    foldUnknown = rate(&draw, 30)
    crash = rate(&draw, 15)
    restores = draw.below(6) == 0 ? 1 : 0
    trims = rate(&draw, 30)
    stops = rate(&draw, 300)
    answerLost = rate(&draw, 150)
    repeats = rate(&draw, 150)
    providerSlow = rate(&draw, 300)
    providerLater = rate(&draw, 300)
    providerGone = rate(&draw, 100)
    providerRejects = rate(&draw, 100)
    providerMute = rate(&draw, 150)
    routeRefused = rate(&draw, 80)
    wakeLost = rate(&draw, 300)
    muteDevices = rate(&draw, 600)
    attacks = rate(&draw, 60)
  }

  private mutating func chooseWork(_ draw: inout SeededRandom) {
    shares = rate(&draw, 300)
    zoneEnds = rate(&draw, 120)
    publicChanges = rate(&draw, 500)
    defaultZone = rate(&draw, 150)
    visible = rate(&draw, 600)
    unsubscribes = rate(&draw, 200)
    signOuts = rate(&draw, 80)
    tokenSwaps = rate(&draw, 100)
    userSwitches = rate(&draw, 80)
    readMarks = rate(&draw, 200)
    expiries = rate(&draw, 15)
  }

  /// The coordinator's settings.
  var settings: RelaySettings {
    var settings = RelaySettings()
    (settings.limits, settings.policy) = (limits, policy)
    settings.drainGrace = .seconds(12)
    settings.work = work
    (settings.journalTailMax, settings.entriesUncutMax) = (journalTailMax, entriesUncutMax)
    settings.answerWithin = answerWithin
    settings.inboxMax = inboxMax
    settings.isTraced = explaining.steps > 0
    if inboxMax == 6 { settings.inboxBytesMax = 2_000 }
    // A world without trims ends before anything is old enough to remove.
    let kept = trims > 0 ? Span.seconds(20) : .days(3_650)
    (settings.tombstonesKept, settings.notificationsKept) = (kept, kept)
    settings.trimEvery = trims > 0 ? .seconds(Int64(31 - trims)) : .days(3_650)
    return settings
  }

  /// Ends all faults: from now on every call works at the first try.
  mutating func calm() {
    for rate in Self.faults { self[keyPath: rate] = 0 }
  }

  private static var faults: [WritableKeyPath<Plan, Int>] {
    [
      \.commitFull, \.commitUnknown, \.foldFull, \.foldUnknown, \.crash, \.restores, \.trims,
      \.stops,
      \.answerLost, \.repeats, \.providerSlow, \.providerLater, \.providerGone,
      \.providerRejects, \.providerMute, \.routeRefused, \.wakeLost, \.attacks,
      \.courierBreaks, \.courierLost, \.batches, \.wrongClocks,
    ]
  }

  /// Sets the conditions under which the checkers can find a planted bug.
  mutating func ripen(for mutant: Mutant) {
    (numbered, courierVisits, courierOnly, explaining) = (0, 0, 0, Explaining())
    dropLoads()
    switch mutant {
    case .answersEarly: (crash, commitUnknown) = (10, 200)
    case .forgetsBudgets: (crash, changes, clientActs) = (15, 120, 80)
    case .asksNoGrant: shares = 500
    case .trustsTokens: attacks = 500
    case .neverRefuses: (inboxMax, changes, unkind) = (2, 120, .seconds(10))
    case .dropsPushes: (muteDevices, wakeLost) = (1_000, 0)
    case .tearsRequests:
      (batches, batchMax, commitUnknown, changes) = (1_000, 20, 30, 60)
      work.commit.facts = 4
    case .commitsEverything:
      (batches, changes, unkind) = (500, 120, .seconds(10))
      work.commit = WorkBounds.Commit(facts: 2, bytes: 600)
    case .triesForEver:
      (large, commitBytes) = (LargeValues(records: 500, bytesMax: 40_000), 8_000)
      (changes, clientActs, unkind) = (10, 10, .seconds(10))
      policy.background.per = .minutes(1)
    case .believesClocks: (wrongClocks, crash, changes) = (1_000, 10, 120)
    case .losesEntries: (explaining.steps, changes) = (200, 120)
    default: break
    }
  }
}
