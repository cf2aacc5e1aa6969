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
