extension Coordinator {
  /// Whether a reader, an answer, a slice, a durable fact or a stop waits for a fold.
  var isFoldAwaited: Bool {
    answers.isAwaitingFold || hasReaders || isStopping || !pacer.isEmpty || stepping.isAwaitingCut
  }

  /// Whether a fold should write changes, should write only the time, or should test the store.
  private func isFoldDue(at now: Instant) -> Bool {
    relay.isDirty(besides: stepping.torn) || now >= timeKept + Self.timeKeptEvery
      || isStoreToBeTried(at: now)
  }

  /// Whether to test the store with a fold that writes only the time: the store has refused
  /// something, and no commit waits that would test it.
  private func isStoreToBeTried(at now: Instant) -> Bool {
    nextTryOfStore <= now
  }

  private var nextTryOfStore: Instant {
    counters.storeTrouble != nil && commit.isIdle
      ? counters.refusedAt + FoldSchedule.retry : .never
  }

  /// - Returns: when the next fold may begin; `.never` means that a fold or trim is under way now.
  mutating func startFold(at now: Instant) -> Instant {
    let next = schedule.next(
      at: now, isDirty: isFoldDue(at: now), isAwaited: isFoldAwaited || relay.isAwaitingFold)
    switch next {
    case .nothing:
      return schedule.isRunning ? .never : min(timeKept + Self.timeKeptEvery, nextTryOfStore)
    case .wait(let until):
      return until
    case .again:
      reach(.foldRepeated)
      if let cut { actions.append(.fold(cut)) }
      return .never
    case .cut:
      // Trims of a backlog and folds take turns, because readers and answers wait for folds.
      if trims.isDue(at: now), !isStopping { trim(at: now) } else { takeCut(at: now) }
      return .never
    }
  }

  private mutating func trim(at now: Instant) {
    reach(.trimmed)
    trims.began(at: now, every: settings.trimEvery)
    actions.append(
      .trim(
        tombstones: now - settings.tombstonesKept,
        notifications: now - settings.notificationsKept, feedback: now - settings.feedbackKept))
  }

  private mutating func takeCut(at now: Instant) {
    trims.folds()
    let left = leftOut()
    if isStoreToBeTried(at: now), !relay.isDirty { reach(.foldTried) }
    let cut = relay.cut(at: now, without: left)
    self.cut = cut
    counters.inCut = counters.unfolded - stepping.cut(without: left)
    answers.cut(without: left)
    commit.cut()
    actions += [.cut(without: left), .fold(cut)]
  }

  /// Partitions to leave out of the cut that is taken now.
  private mutating func leftOut() -> Set<PartitionID> {
    let isChoosing = isFoldAwaited && !isStopping
    let large = isChoosing ? relay.partitions(withUncut: settings.work.entriesOfLarge) : []
    // The compiler lets no closure borrow `self` while this function changes `self`.
    let torn = stepping.torn
    let isDirty = relay.isDirty(besides: torn.union(large.subtracting(cutTurns.leftOut)))
    if !torn.isEmpty { reach(.cutWithoutTorn) }
    let left = cutTurns.next(large: large, torn: torn) { _ in isDirty }
    if !left.isSubset(of: torn) { reach(.cutWithoutLarge) }
    return left
  }

  mutating func folded(_ rows: [OutboxRow], at now: Instant, _ effects: inout [Effect]) {
    schedule.ended(at: now, isDurable: true)
    guard let cut else { return }
    self.cut = nil
    timeKept = cut.at
    counters.unfolded -= counters.inCut
    counters.inCut = 0
    counters.storeWorks()
    counters.lastFold = now
    counters.folds += 1
    for feed in cut.partitions.lazy.flatMap(\.feeds) {
      counters.feedRows += Int64(feed.deltas.count)
    }
    let items = cut.partitions.flatMap(\.feedback)
    for item in items { counters.count(item) }
    if !items.isEmpty { actions.append(.feedback(Set(items.map(\.device.scope)))) }
    actions.append(.visible)
    let outgoing = cut.partitions.flatMap(\.outbox) + rows
    for due in answers.folded(outgoing) { answer(due) }
    forwarding.add(outgoing)
    relay.folded(cut, at: now, into: &effects)
    deliverForwards()
    updateAdmission()
  }

  mutating func foldFailed(_ error: StoreError, at now: Instant) {
    guard error.isPassing else { return actions.append(.failed(error, .fold)) }
    reach(cut == nil ? .trimRefused : .foldRefused)
    actions.append(.event(.foldRefused(error)))
    counters.refused(error, at: now)
    if settings.hasRoomInCut(entries: relay.uncutEntries) { stepping.foldFailed() }
    if cut != nil {
      actions.append(.unreadable(error.refusal))
      for ticket in answers.waiting {
        reach(.requestGivenUpByFold)
        requests.giveUp(ticket.request, error.refusal, into: &actions)
      }
    }
    // A failed trim leaves no cut behind, so the next fold begins as usual.
    schedule.ended(at: now, isDurable: cut == nil)
    updateAdmission()
  }

  mutating func trimmed(_ rows: Int, at now: Instant) {
    schedule.ended(at: now, isDurable: true)
    let hasMore = rows == Self.trimRows
    if hasMore { reach(.trimmedInParts) }
    trims.ended(at: now, hasMore: hasMore)
  }
}
