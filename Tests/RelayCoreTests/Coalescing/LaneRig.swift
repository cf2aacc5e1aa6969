@testable import RelayCore

/// One lane, with short functions for what a partition does with a lane.
struct LaneRig: Hashable {
  var lane = Lane()
  var ledger = Ledger()
  var policy = WakePolicy()
  var limits = Limits()
  var now = Sample.start
  var stepped = Ordinal.zero
  var folded = Ordinal.zero
  var attempts: [AttemptStart] = []
  /// The fold under way, and the last one that is durable.
  private(set) var underWay: Kept?
  private(set) var kept = Kept(lane: LaneRecord(), stepped: .zero, attempts: 0)

  struct AttemptStart: Hashable {
    var at: Instant
    var isAlert: Bool
  }

  struct Kept: Hashable {
    var lane: LaneRecord
    var stepped: Ordinal
    /// How many attempts began before the cut.
    var attempts: Int
  }

  static let zones = (0..<4).map { ZoneID(name: "Z\($0)", owner: Sample.owner) }

  var nextStep: Lane.NextStep {
    mutating get { lane.nextStep(at: now, stepped: stepped, folded: folded, policy: policy) }
  }

  mutating func advance(_ seconds: Double) {
    now = now + Span(milliseconds: Int64(seconds * 1_000))
  }

  /// Matches a change for a zone, as a zone or database subscription does.
  mutating func zone(_ index: Int, isUrgent: Bool = false) {
    match(Sample.content("zones", Self.zones[index]), isUrgent: isUrgent)
  }

  /// Matches a hot change for a zone. If the lane needs a slot, that slot is `seconds` away.
  mutating func hot(_ index: Int, in seconds: Double = 60) {
    giveSlot(seconds)
    match(Sample.content("zones", Self.zones[index]), isHot: true)
  }

  mutating func hotAlert(_ subject: String, in seconds: Double = 60) {
    giveSlot(seconds)
    alert(subject, isHot: true)
  }

  private mutating func giveSlot(_ seconds: Double) {
    guard lane.needsSlot(at: now) else { return }
    lane.wait(for: now + Span(milliseconds: Int64(seconds * 1_000)), isSentBack: false)
  }

  mutating func query(_ record: String) {
    match(
      Sample.content(
        "query", Self.zones[0], .private,
        .query(record: record, reason: .created, values: [], isCut: false)))
  }

  /// Matches a change for a zone with an alert. With `runsApp` the alert's subscription asks for
  /// content-available.
  mutating func alert(
    _ subject: String, zone index: Int = 0, runsApp: Bool = false, isHot: Bool = false
  ) {
    let name = runsApp ? Self.running : "alerts"
    let key = AlertKey(
      subscription: SubscriptionID(name), database: .private, subject: subject, collapse: nil)
    match(Sample.content(name, Self.zones[index]), alert: key, runsApp: runsApp, isHot: isHot)
  }

  /// The subscription whose alerts run the app.
  static let running = "running"

  /// Whether the payload of the lane's next wake asks for content-available.
  private func runsApp(isAlert: Bool) -> Bool {
    !isAlert || lane.pending.alerts.first?.key.subscription.name == Self.running
  }

  mutating func begin(
    isAlert: Bool, overCourier: Bool = false, covering: Bool = true
  ) -> Lane.Attempt? {
    lane.begin(
      isAlert: isAlert, folded: folded, runsApp: runsApp(isAlert: isAlert),
      overCourier: overCourier, at: now, policy: policy
    ) { _ in covering }
  }

  /// Matches a notification of any subscription, with the next ordinal.
  mutating func match(
    _ content: NotificationContent, alert: AlertKey? = nil, runsApp: Bool = true,
    isHot: Bool = false,
    isUrgent: Bool = false
  ) {
    stepped = stepped.next
    let match = Match(
      content: content, position: Position(stepped), zonePosition: Position(stepped), alert: alert,
      runsApp: runsApp, isHot: isHot, isUrgent: isUrgent)
    lane.matched(
      match, cut: underWay?.stepped ?? folded, at: now, policy: policy, limits: limits,
      ledger: &ledger)
  }

  /// Copies the lane's record, unless a fold is under way. Later inputs are not in the cut.
  mutating func cut() {
    guard underWay == nil else { return }
    underWay = Kept(lane: lane.record(), stepped: stepped, attempts: attempts.count)
  }

  /// Makes the fold under way durable.
  mutating func keep() {
    guard let cut = underWay else { return }
    (kept, underWay) = (cut, nil)
    folded = max(folded, cut.stepped)
    lane.folded(to: folded, ledger: &ledger)
  }

  /// Folds everything; the fold is durable at once.
  mutating func fold() {
    keep()
    cut()
    keep()
  }

  /// Moves the clock to the lane's timers, folds when the lane asks for it, and begins the attempt.
  @discardableResult
  mutating func wake(covering: Bool = true) -> Lane.Attempt? {
    for _ in 0..<8 {
      switch nextStep {
      case .nothing: return nil
      case .timer(let at, _):
        if at == .never { return nil }
        now = at
      case .fold: fold()
      case .attempt(let isAlert):
        attempts.append(AttemptStart(at: now, isAlert: isAlert))
        return begin(isAlert: isAlert, covering: covering)
      case .tell(let isAlert):
        return begin(isAlert: isAlert, overCourier: true, covering: covering)
      }
    }
    return nil
  }

  /// Opens a poll or a stream.
  mutating func connect(_ connection: UInt64 = 1, after: UInt32? = nil) {
    lane.connected(connection, after: after, ledger: &ledger)
  }

  mutating func leave(_ connection: UInt64 = 1, isExpectedBack: Bool = false) {
    lane.left(connection, isExpectedBack: isExpectedBack, at: now, policy: policy)
  }

  /// What the partition does when no connection took the courier's wake.
  mutating func courierFailed() {
    lane.notTaken(by: lane.reach.connection)
    lane.postponed(until: now, limits: limits, ledger: &ledger)
  }

  mutating func delivered() { lane.delivered(at: now, policy: policy, ledger: &ledger) }

  /// Informs the lane that its next alert has nothing to show.
  mutating func hush() { lane.hush(folded: folded, limits: limits, ledger: &ledger) }

  mutating func postponed(_ seconds: Double) {
    let until = now + Span(milliseconds: Int64(seconds * 1_000))
    lane.postponed(until: until, limits: limits, ledger: &ledger)
  }

  mutating func rejected() {
    lane.rejected(at: now, policy: policy, limits: limits, ledger: &ledger)
  }

  mutating func fetched() {
    lane.acknowledged(notifications: Position(stepped), ledger: &ledger)
  }

  mutating func fetched(zone index: Int) {
    lane.acknowledged(
      zone: Self.zones[index], .private, position: Position(stepped), ledger: &ledger)
  }

  mutating func withdraw(zone index: Int) {
    lane.withdraw(.zone(Self.zones[index], .private), ledger: &ledger)
  }

  /// The lane after a crash, made from its record.
  func recovered() -> LaneRig {
    var rig = self
    var lane = lane
    rig.lane = Lane(lane.record(), folded: folded)
    rig.lane.registered(withProvider: lane.reach.hasProvider)
    rig.ledger = Ledger()
    rig.ledger.recovered = Int64(rig.lane.pending.deliveries)
    rig.ledger.pending = rig.ledger.recovered
    return rig
  }
}
