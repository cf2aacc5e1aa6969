import OrderedCollections
import RelayCore

/// Facts from outside and our own, on their way through the journal into the core.
extension EngineLoop {
  mutating func admit(_ submission: Inbox.Submission, at now: Instant) {
    let facts = submission.facts
    if case .full(let why) = relay.room(for: facts, besides: commit.reserved) {
      inbox.release(submission.room)
      let cause: Unavailable.Cause =
        switch why {
        case .fanOuts: .fanOutsFull
        case .forwards: .forwardsFull
        }
      return submission.answer(.failure(Unavailable(cause, retryAfterSeconds: 5)))
    }
    var places: OrderedDictionary<PartitionID, [Int]> = [:]
    for (place, fact) in facts.enumerated() {
      for home in fact.homes { places[home, default: []].append(place) }
    }
    let tickets = desk.open(submission, until: outside.clock.boot() + settings.answerWithin)
    for (fact, ticket) in zip(facts, tickets) { desk.expect(fact.homes.count, for: ticket) }
    for (home, places) in places {
      // Room is kept for each partition's facts until they are stepped.
      let need = relay.need(of: places.lazy.map { facts[$0] })
      let share = places.map { place in
        GroupCommit.Waiting(
          partition: home, fact: facts[place].accepted(at: now),
          origin: .submission(tickets[place]))
      }
      commit.add(share, of: submission.submitter, need: need)
    }
  }

  private static let steppedBetweenBeats = 64

  /// Steps what is durable, as much as one turn takes. Effects of each fact follow it at once, so
  /// that no answer overtakes what it promises.
  mutating func step(at now: Instant) {
    guard stepping.isReady else { return }
    // The next commit goes its way while these are stepped.
    startCommit(at: now)
    stepping.beginTurn()
    var steps = 0
    while let next = stepping.next() {
      // A long turn is no stuck loop.
      if steps.isMultiple(of: Self.steppedBetweenBeats) { outside.supervisor.beat() }
      steps += 1
      stepping.stepped(work: step(next.placed, at: now))
      if let need = next.frees { commit.stepped(need) }
    }
    if !settings.hasRoomInCut(entries: relay.uncutEntries) { stepping.waitForCut() }
    updateAdmission()
  }

  /// - Returns: what it cost.
  private mutating func step(_ item: GroupCommit.Placed, at now: Instant) -> Int {
    let entry = item.entry
    var own: [Effect] = []
    let work = relay.step(
      entry.fact, in: entry.partition, ordinal: entry.ordinal, at: entry.at, into: &own)
    perform(own, at: now, origin: item.origin)
    if case .slice = entry.fact { slices.stepped() }
    if case .forward(let key, let source) = item.origin {
      relay.delivered(key, from: source)
      forwarding.delivered(key, from: source)
      for due in settling.delivered(key, from: source) { answer(due) }
    }
    return work
  }
}
