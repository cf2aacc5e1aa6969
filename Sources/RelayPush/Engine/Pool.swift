import RelayCore

/// The connections of one engine: decides which to open, which takes the next request, and which to
/// close. `PushEngine` connects, pings and closes, and reports what happened.
package struct Pool {
  private let limits: EngineLimits
  private let probation: Bool
  private var backoff: Backoff
  private var slots: [Slot]
  /// The connections of the slots, and some that drain. They are few, so a search is cheap.
  private var links: [(id: LinkID, slot: Int, link: Link)] = []
  private var lastLink = LinkID(0)
  private var isRunning = false

  /// A place for one connection at a time. Earlier connections of the slot may still be draining.
  private struct Slot {
    var link: LinkID?
    /// How many of the slot's connections have ended since the last answer on the slot.
    var failures = 0
    /// When to connect again; nil while the slot has a connection, before the start and after
    /// `stop`.
    var openAt: Uptime?
  }

  package enum Action: Equatable {
    case open(LinkID)
    case ping(LinkID)
    case close(LinkID, Link.Reason)
  }

  package init(limits: EngineLimits, probation: Bool, seed: UInt64) {
    self.limits = limits
    self.probation = probation
    backoff = Backoff(first: limits.reconnectFirst, max: limits.reconnectMax, seed: seed)
    slots = Array(repeating: Slot(), count: limits.connections)
  }

  package var open: Int { links.count { $0.link.isOpen } }
  package var isEmpty: Bool { links.isEmpty }
  /// True if the connection is being opened or has streams.
  package func isInUse(_ id: LinkID) -> Bool {
    index(id).map { links[$0].link.isOpening || links[$0].link.inFlight > 0 } ?? false
  }

  package mutating func start(at now: Uptime) -> [Action] {
    isRunning = true
    for slot in slots.indices { slots[slot].openAt = now }
    return openDue(at: now)
  }

  /// The connection is open: TLS is done and HTTP/2 agreed upon.
  package mutating func opened(_ id: LinkID, at now: Uptime) {
    with(id) { $0.opened(at: now) }
  }

  package mutating func allowed(_ id: LinkID, streams: Int) {
    with(id) { $0.allowed(streams) }
  }

  package mutating func heard(_ id: LinkID, at now: Uptime) {
    with(id) { $0.heard(at: now) }
  }

  /// The connection for one more request: the least loaded connection with a free stream; nil if no
  /// connection has a free stream. The new stream counts from now on, until the caller calls
  /// `ended`.
  package mutating func begin(at now: Uptime) -> LinkID? {
    var best: Int?
    for index in links.indices where links[index].link.room > 0 {
      if let known = best, links[known].link.inFlight <= links[index].link.inFlight { continue }
      best = index
    }
    guard let best else { return nil }
    links[best].link.began(at: now)
    return links[best].id
  }

  /// A stream has ended, with or without an answer. `proof` is true if the answer shows that our
  /// credential is accepted.
  package mutating func ended(
    _ id: LinkID, answered: Bool, proof: Bool, at now: Uptime
  ) -> [Action] {
    guard let index = index(id) else { return [] }
    links[index].link.ended(proof: proof)
    if answered, slots[links[index].slot].link == id { slots[links[index].slot].failures = 0 }
    return closeIfDrained(id, at: now)
  }

  /// The connection gets no new streams (GOAWAY, an answer that asks for another connection, or a
  /// request that could not leave whole in time): let its streams finish and open its successor.
  package mutating func drain(_ id: LinkID, at now: Uptime) -> [Action] {
    guard let index = index(id), !links[index].link.isOpening else { return [] }
    links[index].link.drain()
    vacate(links[index].slot, of: id, at: now)
    return closeIfDrained(id, at: now) + openDue(at: now)
  }

  /// The connection has ended or was never opened. A connection that the pool has already removed
  /// is ignored.
  package mutating func closed(_ id: LinkID, at now: Uptime) -> [Action] {
    remove(id, at: now)
    return openDue(at: now)
  }

  /// Opens no more connections. Connections without streams close now, the others when their
  /// streams end.
  package mutating func stop(at now: Uptime) -> [Action] {
    isRunning = false
    for slot in slots.indices { slots[slot].openAt = nil }
    var actions: [Action] = []
    for (index, id) in links.map(\.id).enumerated().reversed() {
      if links[index].link.isOpening {
        actions.append(close(id, .stopped, at: now))
      } else {
        links[index].link.drain()
        actions += closeIfDrained(id, at: now)
      }
    }
    return actions
  }

  /// Closes every connection, because `stopGrace` is over.
  package mutating func closeAll(at now: Uptime) -> [Action] {
    links.map(\.id).map { close($0, .stopped, at: now) }
  }

  package var nextTimer: Uptime? {
    var next = slots.compactMap(\.openAt).min()
    for entry in links { next = min(next ?? entry.link.nextTimer, entry.link.nextTimer) }
    return next
  }

  package mutating func timerFired(at now: Uptime) -> [Action] {
    var actions: [Action] = []
    for (index, id) in links.map(\.id).enumerated().reversed() {
      switch links[index].link.timerFired(at: now) {
      case .none: continue
      case .ping: actions.append(.ping(id))
      case .close(let reason): actions.append(close(id, reason, at: now))
      }
    }
    return actions + openDue(at: now)
  }

  private mutating func openDue(at now: Uptime) -> [Action] {
    guard isRunning else { return [] }
    var actions: [Action] = []
    for slot in slots.indices {
      guard let openAt = slots[slot].openAt, openAt <= now else { continue }
      lastLink = LinkID(lastLink.number + 1)
      slots[slot].link = lastLink
      slots[slot].openAt = nil
      links.append((lastLink, slot, Link(at: now, limits: limits, probation: probation)))
      actions.append(.open(lastLink))
    }
    return actions
  }

  /// Frees the slot. The end of a connection counts as a failure, even if the connection had
  /// opened; an answer on the slot's next connection resets the count. So the engine reconnects
  /// ever more slowly to a peer that accepts connections and closes them.
  private mutating func vacate(_ slot: Int, of id: LinkID, at now: Uptime) {
    guard slots[slot].link == id else { return }
    slots[slot].link = nil
    guard isRunning else { return }
    slots[slot].openAt = now + backoff.delay(failures: slots[slot].failures)
    slots[slot].failures += 1
  }

  private mutating func closeIfDrained(_ id: LinkID, at now: Uptime) -> [Action] {
    guard let link = index(id).map({ links[$0].link }), link.isDraining, link.inFlight == 0 else {
      return []
    }
    return [close(id, .drained, at: now)]
  }

  /// Removes the connection at once: a peer that closes slowly must not keep the slot.
  private mutating func close(_ id: LinkID, _ reason: Link.Reason, at now: Uptime) -> Action {
    remove(id, at: now)
    return .close(id, reason)
  }

  private mutating func remove(_ id: LinkID, at now: Uptime) {
    guard let index = index(id) else { return }
    let slot = links.remove(at: index).slot
    vacate(slot, of: id, at: now)
  }

  private func index(_ id: LinkID) -> Int? { links.firstIndex { $0.id == id } }

  private mutating func with(_ id: LinkID, _ change: (inout Link) -> Void) {
    if let index = index(id) { change(&links[index].link) }
  }
}
