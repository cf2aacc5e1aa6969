import Logging
import RelayCore

extension EngineLoop {
  /// Hands the next group to the journal, if none is under way.
  mutating func startCommit(at now: Instant) {
    guard let entries = commit.next(at: now, room: roomInCut) else { return }
    commits.start(entries)
  }

  /// Entries that wait for the next cut while a reader waits for it; with more, those who have had
  /// a turn since the last cut wait for it. A fold of them takes some forty milliseconds, and a
  /// reader may wait for two. A request's facts are never divided: it may bring a thousand more.
  private static let entriesMax = 1_000

  /// Facts that may be journalled before the next cut, each of them counted as one entry. While the
  /// store refuses folds, no cut is near, and what needs the journal alone goes on.
  private var roomInCut: Int {
    isFoldAwaited && tally.storeTrouble == nil
      ? Self.entriesMax - relay.uncutEntries - stepping.count : .max
  }

  /// A reader, an answer or a slice waits for a fold.
  var isFoldAwaited: Bool {
    settling.isAwaitingFold || visibility.hasReaders || isStopping || !slices.isEmpty
      || stepping.isAwaitingCut
  }

  /// Partitions that are not in the cut that is taken now.
  mutating func leftOut() -> Set<PartitionID> {
    let isChoosing = isFoldAwaited && !isStopping
    let large = isChoosing ? relay.partitions(withUncut: CutTurns.entries) : []
    return cutTurns.next(large: large, torn: stepping.torn) { relay.isDirty(besides: $0) }
  }

  /// The next slice of a wide change, if folds have kept up. None begins when the daemon stops: the
  /// next life goes on with it.
  mutating func startSlice() {
    guard !isStopping, let next = slices.next(entries: relay.uncutEntries) else { return }
    commit.add(GroupCommit.Waiting(partition: next.partition, fact: next.slice, origin: .none))
  }

  /// Messages of other partitions go into their targets' journals.
  mutating func deliverForwards() {
    guard !forwarding.isEmpty else { return }
    var targets: [GroupCommit.Waiting] = []
    var last: Forwarded.Message?
    for row in forwarding.take(for: relay) {
      if row.message != last {
        commit.add(message: targets)
        targets = []
      }
      last = row.message
      let forwarded = Forwarded(
        source: row.source, serial: row.key.serial, message: row.message)
      targets.append(
        GroupCommit.Waiting(
          partition: row.key.target, fact: .forwarded(forwarded),
          origin: .forward(row.key, from: row.source)))
    }
    commit.add(message: targets)
  }

  mutating func commitFailed(_ error: StoreError, at now: Instant) throws {
    if error.isPassing {
      logger.error("journal refused", metadata: ["error": "\(error)"])
      tally.refused(error, at: now)
      return try end(commit.refused(retryAt: now + FoldSchedule.retry), because: error)
    }
    guard error.code == .tooLarge else {
      logger.critical("journal failed", metadata: ["error": "\(error)"])
      throw error
    }
    try end(commit.refusedForSize(), because: error)
  }

  private mutating func end(_ refused: GroupCommit.Refused, because error: StoreError) throws {
    switch refused {
    case .requests(let tickets):
      for ticket in tickets { refuse(ticket, error.refusal) }
    case .divided:
      logger.notice("journal takes less at once", metadata: ["error": "\(error)"])
    case .request(let ticket):
      logger.error("journal refused one request for good", metadata: ["error": "\(error)"])
      refuse(ticket, .requestTooLarge)
    case .own(let fact):
      // What was accepted is not dropped: the names are told, the values are not.
      guard let smaller = fact.withoutValues else {
        logger.critical("journal refused a fact of the relay", metadata: ["error": "\(error)"])
        throw error
      }
      logger.error("a forwarded change goes without values", metadata: ["error": "\(error)"])
      commit.putBack(smaller)
    }
  }

  private mutating func refuse(_ ticket: Settling.Ticket, _ cause: Unavailable.Cause) {
    inbox.release(desk.refuse(ticket, Unavailable(cause, retryAfterSeconds: 5)))
  }

  mutating func folded(_ rows: [OutboxRow], at now: Instant, _ effects: inout [Effect]) {
    schedule.ended(at: now, isDurable: true)
    guard let cut else { return }
    self.cut = nil
    timeKept = cut.at
    tally.unfolded -= tally.inCut
    tally.inCut = 0
    tally.storeWorks()
    tally.lastFold = now
    tally.folds += 1
    for feed in cut.partitions.lazy.flatMap(\.feeds) { tally.feedRows += Int64(feed.deltas.count) }
    tell(cut.partitions.flatMap(\.feedback))
    visibility.folded()
    let outgoing = cut.partitions.flatMap(\.outbox) + rows
    for due in settling.folded(outgoing) { answer(due) }
    forwarding.add(outgoing)
    relay.folded(cut, at: now, into: &effects)
    deliverForwards()
    updateAdmission()
  }

  /// Nothing is under way, and nothing is done after this: the next life need not guess which wake
  /// numbers were given out, and knows the time. Without it, it goes on as after a crash.
  mutating func writeLastCut(_ leases: [Lease]) async {
    guard cut == nil, stepping.isEmpty else {
      let reason = cut == nil ? "facts wait to be stepped" : "a fold failed"
      return logger.warning("stopped without the last fold", metadata: ["reason": "\(reason)"])
    }
    var last = relay.cut(at: readClock())
    last.isLast = true
    do throws(StoreError) {
      _ = try await store.fold(last, leases: leases)
    } catch {
      logger.warning("stopped without the last fold", metadata: ["error": "\(error)"])
    }
  }

  /// What is durable for the apps' own servers.
  private mutating func tell(_ items: [Feedback]) {
    guard !items.isEmpty else { return }
    for item in items { tally.count(item) }
    outside.feedback?.ring(Set(items.map(\.device.scope)))
  }

  mutating func foldFailed(_ error: StoreError, at now: Instant) throws {
    guard error.isPassing else {
      logger.critical("fold failed", metadata: ["error": "\(error)"])
      throw error
    }
    logger.error("fold refused", metadata: ["error": "\(error)"])
    tally.refused(error, at: now)
    if settings.hasRoomInCut(entries: relay.uncutEntries) { stepping.foldFailed() }
    if cut != nil {
      visibility.refused(error.refusal)
      desk.giveUp(settling.waiting, Unavailable(error.refusal, retryAfterSeconds: 5))
    }
    // A trim that failed leaves no cut behind: the next fold goes as usual.
    schedule.ended(at: now, isDurable: cut == nil)
    updateAdmission()
  }

  /// Answers requests that waited for a commit or a fold as long as a request may.
  mutating func tellTheLate() {
    let boot = outside.clock.boot()
    visibility.expire(at: boot)
    desk.giveUp(until: boot, Unavailable(.storeSlow, retryAfterSeconds: 5))
  }

  mutating func trimmed(_ result: Result<Int, StoreError>, at now: Instant) {
    schedule.ended(at: now, isDurable: true)
    if case .success(FoldJob.trimRows) = result { nextTrim = now }
  }

  /// Beyond the longest tail new facts are refused: told whenever facts were stepped and whenever a
  /// fold has ended.
  func updateAdmission() {
    let hasRoom = settings.hasRoom(tail: tally.unfolded, entries: relay.uncutEntries)
    inbox.refuseUnlessDraining(hasRoom ? nil : .storeFull)
  }
}

extension StoreError {
  /// What those are told who wait for what was refused.
  fileprivate var refusal: Unavailable.Cause { code == .full ? .storeFull : .storeUnwritable }
}
