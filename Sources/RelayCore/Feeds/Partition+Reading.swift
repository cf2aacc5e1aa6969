extension Partition {
  /// Marks the named notifications as read. Only the store has the entries of notifications, so the
  /// fold applies the marks. Alerts of the marked notifications are not shown any more, and no
  /// device is woken.
  ///
  /// The number of marks that wait for the fold is bounded for each user. At a replay more marks
  /// may wait than at the first step, so the replay may refuse marks that were accepted before.
  /// This breaks no promise: accepted marks are answered only when folded, and folded facts are not
  /// replayed.
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
    for device in devices.all(of: user) {
      let account = devices.account(of: device)
      trace(.marked(request.notifications), of: device, at: step.at)
      if devices[device].lane.read(read, ledger: &ledgers[account]) { markDirty(device) }
    }
    return (.done, .folded)
  }
}

/// The read marks of one request, which a fold applies to a feed.
package struct ReadMarks: Hashable, Sendable {
  /// The first position that the marked entries may take.
  package var position: Position
  package var device: ClientID?
  package var notifications: [Identifier]
}
