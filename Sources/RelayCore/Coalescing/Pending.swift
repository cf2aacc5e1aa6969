/// One subject on a lane, with at most two deliveries on it: one that the attempt in flight
/// covers, and one that came afterwards.
package struct Pending: Hashable, Sendable {
  package var notice: Notice
  /// Newest entry in the user's notifications feed; own changes do not raise it.
  package var position: Position
  /// The same in the zone's own feed.
  package var zonePosition: Position
  /// A delivery that no attempt covers yet.
  package var isFresh: Bool
  /// A delivery that the attempt in flight covers.
  package var isCovered = false
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
    isHot = match.isHot
    isUrgent = match.isUrgent
  }

  package init(
    notice: Notice, position: Position, zonePosition: Position, isFresh: Bool, toldBy: UInt32
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
  package var deliveries: Int { (isFresh ? 1 : 0) + (isCovered ? 1 : 0) }

  /// - Returns: true if the delivery is new here, false if it merged into one that waits.
  mutating func add(_ match: Match) -> Bool {
    isMixed = isMixed || !notice.isLike(match.notice)
    if !isFresh { freshFrom = match.position }
    isHot = match.isHot && (isHot || !isFresh)
    notice = match.notice
    position = match.position
    zonePosition = match.zonePosition
    isUrgent = isUrgent && deliveries > 0 || match.isUrgent
    defer { isFresh = true }
    return !isFresh
  }

  mutating func cover() {
    isCovered = isFresh
    isFresh = false
  }

  /// - Returns: true if two deliveries became one.
  mutating func uncover() -> Bool {
    guard isCovered else { return false }
    isCovered = false
    // What was covered had been folded.
    freshFrom = .zero
    defer { isFresh = true }
    return isFresh
  }
}

/// An alert that waits to be shown: one push each, oldest first.
package struct PendingAlert: Hashable, Sendable {
  package var key: AlertKey
  package var notice: Notice
  package var position: Position
  /// How it looks, where it names values of its record or its subscription is gone. Nil: as the
  /// subscription says when it is shown. Erased with the alert.
  package var look: NotificationInfo?
  /// It is shown at once, and says what to wait for before anything is fetched.
  package var isHot: Bool

  package init(
    key: AlertKey, notice: Notice, position: Position, look: NotificationInfo? = nil,
    isHot: Bool = false
  ) {
    self.key = key
    self.notice = notice
    self.position = position
    self.look = look
    self.isHot = isHot
  }

  /// A reader who comes at once finds what it shows (P4).
  func isTellable(_ folded: Ordinal) -> Bool { position.ordinal <= folded }
}
