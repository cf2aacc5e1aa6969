import HeapModule
import OrderedCollections

/// A hash slice of users with all that is theirs: one machine over one journal.
///
/// `step` takes its facts in journal order and nothing else changes what feeds show; the other
/// inputs move lanes. Deterministic: the same tables, facts and instants give the same effects,
/// byte for byte, so recovery is replay.
package struct Partition: Sendable {
  package let id: PartitionID
  let limits: Limits
  private(set) var policy: WakePolicy

  /// The last fact stepped.
  package internal(set) var stepped: Ordinal
  /// The last fact that a durable fold contains.
  package internal(set) var folded: Ordinal
  package internal(set) var ledger = Ledger()

  var users = Users()
  var index = SubscriptionIndex()
  var devices = Devices()
  var timers = Heap<Timer>()
  /// When to look whether the address of a device without a provider has lapsed: one a slot.
  var lapsing = Heap<Timer>()
  var lapsingSlots: Set<Int> = []
  /// Devices whose lanes wait for the next fold.
  var awaitingFold: [Int] = []

  var buffers: OrderedDictionary<FeedKey, FeedBuffer> = [:]
  /// Entries that the next cut brings into feeds, at most.
  package internal(set) var uncut = 0
  var memory = DedupWindow()
  /// A fact that forgets ids is on its way into the journal.
  var isForgetAsked = false
  var sharing = ZoneSharing()
  var interests = Interests()
  var badges = Badges()
  var heard: [Hearing: Position] = [:]
  var sequences = ZoneSequences()
  var fanOuts = FanOutQueue()
  /// The last message to this partition itself that had to wait in the outbox.
  var lastToSelf: [Track: Position] = [:]
  /// Lines of hot zones.
  var smears: [ZoneKey: WakePacer] = [:]
  /// Times that a line reached the longest time, since start.
  package internal(set) var hurried: Int64 = 0
  var rows: RowChanges
  /// The last fact in the last cut, and the devices in it.
  var cutTo: Ordinal
  var inCut: [Int] = []
  /// Slots of devices whose lanes were not asked yet since the rules changed.
  var askedAnew = 0..<0
  /// Devices whose lanes had an input since they were last asked what they wait for.
  var restless: OrderedSet<Int> = []
  var attempts: UInt64 = 0
  /// What steps have cost since start, in looks at a subscription, a filter, a list's member or a
  /// word: counted, for a driver that bounds what it steps at once.
  package internal(set) var work = 0
  /// A signed token named a life this store never had: it was restored from a copy, and no forced
  /// expiry has made good for it yet.
  package internal(set) var isRestoreProven = false
  /// Where an operator last expired all tokens. Clients have begun anew since, so a restore before
  /// this place is no news.
  var expired = Position.zero

  struct ZoneKey: Hashable {
    var scope: Scope
    var zone: ZoneID
  }

  struct Timer: Comparable {
    var at: Instant
    var device: Int
    static func < (left: Timer, right: Timer) -> Bool {
      (left.at, left.device) < (right.at, right.device)
    }
  }

  /// An empty partition, as a new store has it.
  package init(id: PartitionID, limits: Limits, policy: WakePolicy) {
    self.id = id
    self.limits = limits
    self.policy = policy
    stepped = .zero
    folded = .zero
    cutTo = .zero
    rows = RowChanges()
  }

  /// New rules: every lane is asked anew what it waits for, in the course of `askAnew`; its timer
  /// was set by the old ones.
  package mutating func reconfigure(_ policy: WakePolicy, at now: Instant) {
    let before = self.policy.smearing
    self.policy = policy
    stretchSlots(from: before, at: now)
    askedAnew = 0..<devices.slotCount
  }

  /// Steps the next fact of the journal.
  ///
  /// - Parameters:
  ///   - at: the instant it was journalled with.
  ///   - effects: what it leads to is appended, its answer included.
  package mutating func step(
    _ fact: Fact, ordinal: Ordinal, at now: Instant, into effects: inout [Effect]
  ) {
    precondition(
      ordinal > stepped,
      "the journal's order is the order of steps: \(ordinal.number) came after \(stepped.number)")
    stepped = ordinal
    work += StepCost.fact
    let place = Step(ordinal: ordinal, at: now)
    let (answer, moment) = decide(fact, place, &effects)
    tellInterests(place, &effects)
    effects.append(.answer(id, ordinal, answer, moment))
  }

  /// The place of the fact being stepped.
  struct Step {
    var ordinal: Ordinal
    var at: Instant
    /// Of a hot change: microseconds between the wakes it makes here.
    var gap: Int64?
    /// The fact of another partition that this one comes of: its answer waits for this one's.
    var cause: FactPlace?
    var position: Position { Position(ordinal) }
  }

  private mutating func decide(
    _ fact: Fact, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    switch fact {
    case .change(let change): return take(change, step, &effects)
    case .register(let registration): return register(registration, step, &effects)
    case .unregister(let request): return unregister(request, step, &effects)
    case .modify(let request):
      work += StepCost.operation * request.operations.count
      return modify(request, step, &effects)
    case .slice(let slice): go(on: slice, step, &effects)
    case .forwarded(let forwarded): hear(forwarded, step, &effects)
    case .markRead(let request):
      work += request.notifications.count
      return markRead(request, step, &effects)
    case .setBadge(let request): return setBadge(request)
    case .expireTokens(let expiry): expire(expiry, step)
    case .lostHistory(let feed, let since):
      raiseFloor(of: feed, to: since, &effects)
      if since > expired { proveRestore(true) }
    case .tick: tick(step, &effects)
    case .forget(let ordinal): forget(through: ordinal)
    }
    return (.done, .folded)
  }
}
