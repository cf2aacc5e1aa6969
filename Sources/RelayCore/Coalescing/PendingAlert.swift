/// An alert that waits to be shown: one push each, oldest first.
package struct PendingAlert: Hashable, Sendable {
  package var key: AlertKey
  package var notice: NotificationContent
  package var position: Position
  package var zonePosition: Position
  /// How it looks, where it names values of its record or its subscription is gone. Nil: as the
  /// subscription says when it is shown. Erased with the alert.
  package var look: NotificationInfo?
  /// It is shown at once, and says what to wait for before anything is fetched.
  package var isHot: Bool
  /// Alerts of the same subject that it came after, oldest first: at most the newest that is folded
  /// and the newest of the cut under way. One of them is shown while this one is not folded, or a
  /// subject that changes before every fold would never be. Not kept in the tables: what stands
  /// there is folded.
  package private(set) var earlier: [PendingAlert] = []

  package init(
    key: AlertKey, notice: NotificationContent, position: Position, zonePosition: Position,
    look: NotificationInfo? = nil, isHot: Bool = false
  ) {
    self.key = key
    self.notice = notice
    self.position = position
    self.zonePosition = zonePosition
    self.look = look
    self.isHot = isHot
  }

  /// What the ledger counts: this one, and the one that may be shown before it.
  package var deliveries: Int { earlier.isEmpty ? 1 : 2 }

  /// What of it may be shown: the newest that a reader who comes at once finds (P4).
  func shown(_ folded: Ordinal) -> PendingAlert? {
    if position.ordinal <= folded { return alone }
    return earlier.last { $0.position.ordinal <= folded }
  }

  /// Without those that it came after.
  var alone: PendingAlert {
    var alone = self
    alone.earlier = []
    return alone
  }

  /// A newer one of the same subject came. This one is not forgotten if the last cut has it: the
  /// newer one is shown only after another fold, and the one after that again.
  func followed(by newer: PendingAlert, cut: Ordinal) -> PendingAlert {
    var next = newer
    next.earlier = earlier
    if position.ordinal <= cut { next.earlier.append(alone) }
    return next
  }

  /// A newer one that is folded takes the place of all before it.
  mutating func folded(to folded: Ordinal) {
    if position.ordinal <= folded {
      earlier = []
    } else if let newest = earlier.lastIndex(where: { $0.position.ordinal <= folded }) {
      earlier.removeSubrange(..<newest)
    }
  }

  /// Without those that are meant.
  ///
  /// - Parameter withEarlier: and without those that they came after.
  /// - Returns: nil if nothing is left.
  func without(withEarlier: Bool, _ isMeant: (PendingAlert) -> Bool) -> PendingAlert? {
    var left = earlier
    left.append(alone)
    if withEarlier, let last = left.lastIndex(where: isMeant) {
      left.removeSubrange(...last)
    } else {
      left.removeAll(where: isMeant)
    }
    guard var newest = left.popLast() else { return nil }
    newest.earlier = left
    return newest
  }
}
