/// One subject on a lane, with at most two deliveries on it: one that the attempt in flight
/// covers, and one that came afterwards.
package struct Pending: Hashable, Sendable {
  package var notice: NotificationContent
  /// Newest entry in the user's notifications feed; own changes do not raise it.
  package var position: Position
  /// The same in the zone's own feed.
  package var zonePosition: Position
  /// Something of it that no attempt covers yet.
  package var isFresh: Bool
  /// Something of it that the attempt in flight covers.
  package var isCovered = false
  /// What is fresh, or covered, began with an alert: the ledger counts that delivery with the
  /// alert, and none here.
  package var isFreshOfAlert = false
  package var isCoveredOfAlert = false
  /// The last delivered wake that told of it; 0 if none did.
  package var toldBy: UInt32 = 0
  /// Others than its newest notice are among what it stands for: another zone or subscription.
  package var isMixed = false
  /// All that is new of it came with hot changes: it waits for the lane's slot.
  package var isHot = false
  /// A subscription marked urgent is among what waits to be told.
  package var isUrgent = false
  /// The first delivery that no attempt covers; zero once it is known to be folded. Not kept in
  /// the tables: what stands there is folded.
  package var freshFrom: Position

  package init(_ match: Match) {
    freshFrom = match.position
    notice = match.notice
    position = match.position
    zonePosition = match.zonePosition
    isFresh = true
    isFreshOfAlert = match.alert != nil
    isHot = match.isHot
    isUrgent = match.isUrgent
  }

  package init(
    notice: NotificationContent, position: Position, zonePosition: Position, isFresh: Bool,
    toldBy: UInt32
  ) {
    self.notice = notice
    self.position = position
    self.zonePosition = zonePosition
    self.isFresh = isFresh
    self.toldBy = toldBy
    freshFrom = .zero
  }

  /// A reader who comes at once finds it (P4).
  func isTellable(_ folded: Ordinal) -> Bool { !isFresh || freshFrom.ordinal <= folded }

  /// Deliveries on it that count as pending in the ledger.
  package var deliveries: Int {
    (isFresh && !isFreshOfAlert ? 1 : 0) + (isCovered && !isCoveredOfAlert ? 1 : 0)
  }

  /// Something of it was not delivered to the device yet.
  package var isUntold: Bool { isFresh || isCovered }

  /// - Returns: true if the delivery is new here, false if it merged into one that waits.
  mutating func add(_ match: Match) -> Bool {
    isMixed = isMixed || !notice.isLike(match.notice)
    if !isFresh {
      freshFrom = match.position
      isFreshOfAlert = match.alert != nil
    }
    // A quiet subject is named whole or not at all: the wake in flight does not name this.
    if match.isQuiet { unname() }
    isHot = match.isHot && (isHot || !isFresh)
    // An alert that could not be shown may be older than what is known here.
    if match.position >= position {
      notice = match.notice
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

  /// The attempt failed.
  ///
  /// - Returns: true if two deliveries became one.
  mutating func uncover() -> Bool {
    guard isCovered else { return false }
    let before = deliveries
    isFreshOfAlert = isCoveredOfAlert && (!isFresh || isFreshOfAlert)
    (isFresh, isCovered, isCoveredOfAlert) = (true, false, false)
    // What was covered had been folded.
    freshFrom = .zero
    return deliveries < before
  }

  /// The attempt in flight names a quiet subject. It covers no delivery of it.
  mutating func name() { (isCovered, isCoveredOfAlert) = (true, true) }

  mutating func unname() { (isCovered, isCoveredOfAlert) = (false, false) }

  /// A delivered wake told what it covered.
  mutating func told(by wake: UInt32) {
    unname()
    toldBy = wake
  }
}
