/// An alert that waits to be shown. Each alert is one push, and the oldest alert is shown first.
package struct PendingAlert: Hashable, Sendable {
  package var key: AlertKey
  package var content: NotificationContent
  package var position: Position
  package var zonePosition: Position
  /// The alert's appearance, if the alert names values of the record or the subscription is gone.
  /// The appearance is erased together with the alert. `nil` means that the subscription gives the
  /// appearance when the alert is shown.
  package var look: NotificationInfo?
  /// A hot alert is shown at once, and its push states the time before which the device must not
  /// fetch.
  package var isHot: Bool
  /// Earlier alerts of the same subject, oldest first: at most the newest folded alert and the
  /// newest alert in the cut under way. One of them is shown while this alert is not folded.
  /// Without them, a subject that changes before every fold would never be shown. The tables do not
  /// store earlier alerts, because everything in the tables is folded.
  package private(set) var earlier: [PendingAlert] = []

  package init(
    key: AlertKey, content: NotificationContent, position: Position, zonePosition: Position,
    look: NotificationInfo? = nil, isHot: Bool = false
  ) {
    self.key = key
    self.content = content
    self.position = position
    self.zonePosition = zonePosition
    self.look = look
    self.isHot = isHot
  }

  /// How many deliveries the ledger counts: this alert, and an earlier alert that may be shown
  /// before it.
  package var deliveries: Int { earlier.isEmpty ? 1 : 2 }

  /// The newest alert of the subject that is folded, so that a device that reads at once finds it
  /// (P4). `nil` means that none is folded.
  func shown(_ folded: Ordinal) -> PendingAlert? {
    if position.ordinal <= folded { return alone }
    return earlier.last { $0.position.ordinal <= folded }
  }

  /// This alert without the earlier ones.
  var alone: PendingAlert {
    var alone = self
    alone.earlier = []
    return alone
  }

  /// A newer alert of the same subject came. If the last cut contains this alert, this alert is
  /// kept, because the newer alert can be shown only after a further fold.
  func followed(by newer: PendingAlert, cut: Ordinal) -> PendingAlert {
    var next = newer
    next.earlier = earlier
    if position.ordinal <= cut { next.earlier.append(alone) }
    return next
  }

  /// The newest folded alert replaces all alerts before it.
  mutating func folded(to folded: Ordinal) {
    if position.ordinal <= folded {
      earlier = []
    } else if let newest = earlier.lastIndex(where: { $0.position.ordinal <= folded }) {
      earlier.removeSubrange(..<newest)
    }
  }

  /// This alert and its earlier ones, without those that `isMeant` selects.
  ///
  /// - Parameter withEarlier: whether to remove the alerts before the selected alerts, too.
  /// - Returns: the newest alert that is left, with the earlier alerts that are left; `nil` if none
  ///   is left.
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
