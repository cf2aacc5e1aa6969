@testable import RelayCore
import Testing

/// Read marks: how they change entries, and what a reader's token then shows.
@Suite struct ReadMarksTests {
  private func entry(_ nid: UInt64, at position: UInt64, by device: ClientID? = nil) -> Entry {
    let subject = Subject.notification(
      SubscriptionID("s"), zone: Sample.zone, record: "A\(nid)")
    let mutation = FeedMutation(
      verb: .created, position: Sample.position(position), device: device, time: Sample.start,
      detail: .notification(
        NotificationDetail(kind: .query, database: .private, notification: Sample.nid(nid))))
    return Fold.fold(nil, Delta(mutation), subject: subject)
  }

  private func marks(_ ordinal: UInt64, _ nids: [UInt64], by device: ClientID? = nil) -> ReadMarks {
    ReadMarks(
      position: Sample.position(ordinal), device: device, notifications: nids.map(Sample.nid))
  }

  private func detail(_ entry: Entry) -> NotificationDetail? {
    if case .notification(let detail) = entry.detail { detail } else { nil }
  }

  @Test func `a read mark moves its entries to new positions`() {
    let entries = [entry(1, at: 3), entry(2, at: 4), entry(3, at: 5)]
    let marked = Fold.mark(entries, marks(9, [3, 1]))
    #expect(marked.map(\.life.position) == [Sample.position(9, 0), Sample.position(9, 1)])
    #expect(marked.map { detail($0)?.notification } == [Sample.nid(1), Sample.nid(3)])
    #expect(marked.allSatisfy { detail($0)?.isRead == true })
  }

  @Test func `a reader that saw the notification sees only its read mark`() {
    let marked = Fold.mark([entry(1, at: 3)], marks(9, [1]))[0]
    #expect(detail(marked)?.isReadMark(since: Sample.position(3)) == true)
    #expect(detail(marked)?.isReadMark(since: Sample.position(2)) == false)
  }

  @Test func `a repeated mark and an unknown id change nothing`() {
    let marked = Fold.mark([entry(1, at: 3)], marks(9, [1, 77]))
    #expect(marked.count == 1)
    #expect(Fold.mark(marked, marks(9, [1, 77])).isEmpty)
    #expect(Fold.mark(marked, marks(12, [1])).isEmpty)
  }

  @Test func `a later change makes a new unread notification`() {
    let marked = Fold.mark([entry(1, at: 3)], marks(9, [1]))[0]
    let mutation = FeedMutation(
      verb: .updated, position: Sample.position(12), device: nil, time: Sample.start,
      detail: .notification(
        NotificationDetail(kind: .query, database: .private, notification: Sample.nid(2))))
    let next = Fold.fold(marked, Delta(mutation), subject: marked.subject)
    #expect(detail(next)?.isRead == false)
    #expect(Fold.mark([next], marks(13, [1])).isEmpty)
  }

  @Test func `a mark is own to its client and a change stays own to its author`() {
    let (author, reader) = (Sample.client(1), Sample.client(2))
    let marked = Fold.mark([entry(1, at: 3, by: author)], marks(9, [1], by: reader))[0]
    let (seen, unseen) = (Sample.position(3), Sample.position(2))
    #expect(marked.isOwn(of: reader, since: seen) && !marked.isOwn(of: author, since: seen))
    #expect(marked.isOwn(of: author, since: unseen) && !marked.isOwn(of: reader, since: unseen))
    let authorless = Fold.mark([entry(1, at: 3, by: author)], marks(9, [1]))[0]
    #expect(!authorless.isOwn(of: author, since: seen) && !authorless.isOwn(of: nil, since: seen))
  }

  /// P5: only a change makes a wake necessary, never a mark.
  @Test func `a read mark does not count as a foreign change`() {
    let author = Sample.client(1)
    let marked = Fold.mark([entry(1, at: 3)], marks(9, [1]))[0]
    let mutation = FeedMutation(
      verb: .updated, position: Sample.position(12), device: author, time: Sample.start,
      detail: .notification(
        NotificationDetail(kind: .query, database: .private, notification: Sample.nid(2))))
    let next = Fold.fold(marked, Delta(mutation), subject: marked.subject)
    #expect(next.life.foreign == Sample.position(3))
  }

  @Test func `a read mark cancels the alert on every device and wakes no device`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.register(2)
    rig.save("s", .query(QueryRule(recordType: "Article")), visible: true)
    rig.change(.record(.created), fingerprint: 500)
    let nid = Sample.nid(rig.fingerprint)
    rig.fold()
    rig.step(
      .markRead(
        ReadRequest(
          scope: Sample.scope, user: Sample.owner, client: Sample.client(1),
          notifications: [nid])))
    #expect(rig.partition.ledger.fetched == 2 && rig.partition.ledger.pending == 0)
    let cut = rig.fold()
    #expect(cut.feed(.notifications(Sample.owner))?.marks.count == 1)
    // The cut holds no alert, because a start after a crash would show an alert that a cut holds.
    #expect(cut.devices.map(\.lane.pending.alerts.isEmpty) == [true, true])
    #expect(rig.wake().isEmpty && rig.partition.ledger.isBalanced)
  }

  private func read(_ ids: ClosedRange<UInt64>, by client: UInt64 = 1) -> Fact {
    .markRead(
      ReadRequest(
        scope: Sample.scope, user: Sample.owner, client: Sample.client(client),
        notifications: ids.map(Sample.nid)))
  }

  /// The store looks up each notification once in a fold, however often the marks name it.
  @Test func `the marks of one cut name each notification once`() {
    var rig = PartitionRig()
    for client in 1...8 as ClosedRange<UInt64> { rig.step(read(1...200, by: client)) }
    rig.step(read(150...250, by: 9))
    let marks = rig.fold().feed(.notifications(Sample.owner))?.marks ?? []
    #expect(marks.map(\.notifications.count) == [149, 101])
    #expect(marks.map(\.device) == [Sample.client(8), Sample.client(9)])
    #expect(marks.map(\.position) == [Sample.position(8), Sample.position(9)])
    rig.step(read(1...1))
    #expect(rig.fold().feed(.notifications(Sample.owner))?.marks.map(\.notifications.count) == [1])
  }

  @Test func `a request that names a notification twice marks it once`() {
    var rig = PartitionRig()
    rig.step(
      .markRead(
        ReadRequest(
          scope: Sample.scope, user: Sample.owner, client: nil,
          notifications: [Sample.nid(1), Sample.nid(2), Sample.nid(1)])))
    let marks = rig.fold().feed(.notifications(Sample.owner))?.marks.first
    #expect(marks?.notifications == [Sample.nid(1), Sample.nid(2)])
  }

  /// One user's marks are bounded until a fold has taken them. One user's marks take no room from
  /// another user.
  ///
  /// Limit: limits.readMarksPerUser
  @Test(arguments: [(count: 399, isTaken: true), (400, true), (401, false)])
  func `readMarksPerUser limits a user's marks until a fold takes them`(
    count: UInt64, isTaken: Bool
  ) {
    var limits = Limits()
    limits.readMarksPerUser = 400
    var rig = PartitionRig(limits: limits)
    #expect(rig.step(read(1...200)) == .done)
    let answer = rig.step(read(201...count))
    #expect(answer == (isTaken ? .done : .refused(.tooManyReadMarks(max: 400))))
    let other = users(1, inHomeOf: Sample.owner, true)[0]
    #expect(
      rig.step(
        .markRead(
          ReadRequest(
            scope: Sample.scope, user: other, client: nil, notifications: [Sample.nid(1)])))
        == .done)
    rig.fold()
    #expect(rig.step(read(201...count)) == .done)
  }

  @Test func `a mark that cancels nothing on a device writes no device row`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.fold()
    rig.step(read(1...3))
    #expect(rig.fold().devices.isEmpty)
  }
}
