/// One subject on a lane, with at most two deliveries: one that the attempt in flight covers, and
/// one that came afterwards.
package struct Pending: Hashable, Sendable {
  package var content: NotificationContent
  /// The position of the subject's newest entry in the user's notifications feed. The device's own
  /// changes do not raise this position.
  package var position: Position
  /// The position of the subject's newest change in the zone's own feed.
  package var zonePosition: Position
  /// Whether the subject has a change that no attempt covers yet.
  package var isFresh: Bool
  /// Whether the subject has a change that the attempt in flight covers.
  package var isCovered = false
  /// Whether the fresh delivery began with an alert; `isCoveredOfAlert` says the same of the
  /// covered delivery. The ledger counts such a delivery with its alert, and not with this subject.
  package var isFreshOfAlert = false
  package var isCoveredOfAlert = false
  /// The last delivered wake that named the subject; 0 if none did.
  package var toldBy: UInt32 = 0
  /// True if the subject also stands for other zones or subscriptions than those of `content`.
  package var isMixed = false
  /// True if all fresh changes are hot, so that the subject waits for the lane's slot.
  package var isHot = false
  /// True if a change that is not told yet fired a subscription that is marked urgent.
  package var isUrgent = false
  /// The position of the first delivery that no attempt covers; zero if that delivery is known to
  /// be folded. The tables do not store this position, because everything in the tables is folded.
  package var freshFrom: Position

  package init(_ match: Match) {
    freshFrom = match.position
    content = match.content
    position = match.position
    zonePosition = match.zonePosition
    isFresh = true
    isFreshOfAlert = match.alert != nil
    isHot = match.isHot
    isUrgent = match.isUrgent
  }

  package init(
    content: NotificationContent, position: Position, zonePosition: Position, isFresh: Bool,
    toldBy: UInt32
  ) {
    self.content = content
    self.position = position
    self.zonePosition = zonePosition
    self.isFresh = isFresh
    self.toldBy = toldBy
    freshFrom = .zero
  }

  /// Whether a device that reads at once finds the subject in the feed (P4).
  func mayBeTold(_ folded: Ordinal) -> Bool { !isFresh || freshFrom.ordinal <= folded }

  /// Deliveries of the subject that count as pending in the ledger.
  package var deliveries: Int {
    (isFresh && !isFreshOfAlert ? 1 : 0) + (isCovered && !isCoveredOfAlert ? 1 : 0)
  }

  /// Whether the subject has a change that no delivered wake has told.
  package var isUntold: Bool { isFresh || isCovered }

  /// - Returns: true if the delivery is new in this subject, false if it merged into a waiting
  ///   delivery.
  mutating func add(_ match: Match) -> Bool {
    isMixed = isMixed || !content.isLike(match.content)
    if !isFresh {
      freshFrom = match.position
      isFreshOfAlert = match.alert != nil
    }
    // A wake must name all changes of a quiet subject. The wake in flight lacks this change, so
    // that wake does not count as naming the subject.
    if match.isQuiet { clearCover() }
    isHot = match.isHot && (isHot || !isFresh)
    // If this is the match of an alert that could not be shown, newer content may pend already.
    if match.position >= position {
      content = match.content
      position = match.position
      zonePosition = match.zonePosition
    }
    isUrgent = isUrgent && isUntold || match.isUrgent
    defer { isFresh = true }
    return !isFresh
  }

  mutating func cover() {
    (isCovered, isCoveredOfAlert) = (isFresh, isFresh && isFreshOfAlert)
    (isFresh, isFreshOfAlert) = (false, false)
  }

  /// The attempt in flight failed.
  ///
  /// - Returns: true if two deliveries became one.
  mutating func uncover() -> Bool {
    guard isCovered else { return false }
    let before = deliveries
    isFreshOfAlert = isCoveredOfAlert && (!isFresh || isFreshOfAlert)
    (isFresh, isCovered, isCoveredOfAlert) = (true, false, false)
    // The covered delivery had been folded.
    freshFrom = .zero
    return deliveries < before
  }

  /// The attempt in flight names a quiet subject. The ledger counts no delivery for that subject.
  mutating func name() { (isCovered, isCoveredOfAlert) = (true, true) }

  mutating func clearCover() { (isCovered, isCoveredOfAlert) = (false, false) }

  /// A delivered wake has told the device of the covered delivery.
  mutating func told(by wake: UInt32) {
    clearCover()
    toldBy = wake
  }
}
