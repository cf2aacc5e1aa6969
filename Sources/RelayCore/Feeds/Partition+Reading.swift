extension Partition {
  /// Marks notifications as read, in the order named. Only the store knows their entries, so the
  /// fold applies the marks. Their alerts are not shown any more, and no device is woken.
  ///
  /// The marks that wait for the fold are bounded for each user. A replay may find more marks
  /// waiting than the earlier life did, and refuse marks that were accepted then. This breaks no
  /// promise: accepted marks are answered only when folded, and folded facts are not replayed.
  mutating func markRead(
    _ request: ReadRequest, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    guard !request.notifications.isEmpty else { return (.done, .folded) }
    let feed = FeedKey(scope: request.scope, kind: .notifications(request.user))
    let waiting = feeds.waitingMarks(in: feed)
    guard waiting + request.notifications.count <= limits.readMarksPerUser else {
      return (.refused(.tooManyReadMarks(max: limits.readMarksPerUser)), .stepped)
    }
    feeds.add(
      ReadMarks(
        position: step.position, device: request.client, notifications: request.notifications),
      to: feed, &effects)
    guard let user = users.find(request.user, in: request.scope) else { return (.done, .folded) }
    let read = Set(request.notifications)
    for device in devices.all(of: user) where devices[device].lane.read(read, ledger: &ledger) {
      markDirty(device)
    }
    return (.done, .folded)
  }
}

/// The read marks of one request, on their way into a feed.
package struct ReadMarks: Hashable, Sendable {
  /// The first position that the marked entries may take.
  package var position: Position
  package var device: ClientID?
  package var notifications: [Identifier]

  package init(position: Position, device: ClientID?, notifications: [Identifier]) {
    self.position = position
    self.device = device
    self.notifications = notifications
  }
}

extension Entry {
  /// The id by which a read mark finds the entry; nil if no mark changes it.
  package var unread: Identifier? {
    guard case .notification(let detail) = detail, !detail.isRead else { return nil }
    return detail.notification
  }
}

extension Fold {
  /// The entries that `marks` change, as they are afterwards. Call after the deltas of the same
  /// cut: a later change of a subject is another notification, which earlier marks do not change.
  ///
  /// - Parameter entries: at least those of the feed whose `unread` id is among the marks.
  /// - Returns: changed entries, each at a position of its own. Entries already read, superseded or
  ///   trimmed do not change, so a repeat changes nothing.
  package static func mark(_ entries: [Entry], _ marks: ReadMarks) -> [Entry] {
    let named = Set(marks.notifications)
    var index = 0
    return
      entries
      .filter { entry in
        guard let notification = entry.unread else { return false }
        return named.contains(notification) && entry.life.position < marks.position
      }
      .sorted { $0.life.position < $1.life.position }
      .map { entry in
        let place = Position(marks.position.ordinal, index: index)
        index += 1
        return marked(entry, at: place, by: marks.device)
      }
  }

  private static func marked(
    _ entry: Entry, at place: Position, by device: ClientID?
  ) -> Entry {
    guard case .notification(var detail) = entry.detail else { return entry }
    var next = entry
    detail.read = NotificationDetail.ReadMark(changed: entry.life.position, device: device)
    next.detail = .notification(detail)
    next.life.position = place
    return next
  }
}
