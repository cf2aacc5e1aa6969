/// An alert that waits to be shown. Each is one push; the oldest comes first.
package struct PendingAlert: Hashable, Sendable {
  package var key: AlertKey
  package var content: NotificationContent
  package var position: Position
  package var zonePosition: Position
  /// The alert's appearance, if it names values of the record or the subscription is gone. Nil: the
  /// subscription gives the appearance when the alert is shown. Erased with the alert.
  package var look: NotificationInfo?
  /// A hot alert is shown at once, and its push states the time before which the device must not
  /// fetch.
  package var isHot: Bool
  /// Earlier alerts of the same subject, oldest first: at most the newest that is folded and the
  /// newest of the cut under way. One of them is shown while this one is not folded; otherwise a
  /// subject that changes before every fold would never be shown. Not stored in the tables, because
  /// everything in them is folded.
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

  /// Deliveries in the ledger: this alert, and the one that may be shown before it.
  package var deliveries: Int { earlier.isEmpty ? 1 : 2 }

  /// The newest alert of the subject that may be shown: a device that reads at once finds it (P4).
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

  /// A newer alert of the same subject came. This one is kept if the last cut has it, because the
  /// newer one can be shown only after a further fold.
  func followed(by newer: PendingAlert, cut: Ordinal) -> PendingAlert {
    var next = newer
    next.earlier = earlier
    if position.ordinal <= cut { next.earlier.append(alone) }
    return next
  }

  /// A newer alert that is folded replaces all earlier ones.
  mutating func folded(to folded: Ordinal) {
    if position.ordinal <= folded {
      earlier = []
    } else if let newest = earlier.lastIndex(where: { $0.position.ordinal <= folded }) {
      earlier.removeSubrange(..<newest)
    }
  }

  /// This alert and its earlier ones, without those that `isMeant` selects.
  ///
  /// - Parameter withEarlier: whether to remove the alerts before them, too.
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
