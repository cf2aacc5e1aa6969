import DequeModule

/// Collects everything that arrives during one commit into the next one. One commit is under way at
/// a time; if the store refuses it, the ordinals of its facts are used again.
///
/// A commit is bounded by facts and bytes, but one request's facts for one partition are never
/// divided, even if they exceed the bound: they become durable, and visible, together. Submitters
/// take turns, so that no caller waits behind everything that another one sent.
struct GroupCommit: Sendable {
  /// The origin of a fact, which decides what to do once the fact is stepped.
  enum Origin: Sendable {
    case request(RequestTicket)
    case forward(OutboxRow.Key, from: PartitionID)
    /// The relay itself made the fact.
    case none
  }

  struct Waiting: Sendable {
    var partition: PartitionID
    var fact: Fact
    var origin: Origin
  }

  struct Placed: Sendable {
    var entry: JournalEntry
    var origin: Origin
  }

  /// Durable facts that are stepped one after the other and become visible together.
  struct Durable: Sendable {
    var facts: [Placed]
    /// Room reserved for the messages that the facts cause, until `stepped` is called.
    var need = ForwardNeed.none
  }

  /// Facts that are committed together: one request's facts for one partition, one fact of the
  /// relay's own, or one message to several partitions.
  private struct Unit: Sendable {
    let facts: [Waiting]
    let bytes: Int
    /// Room reserved for the messages that the facts cause.
    let need: ForwardNeed

    init(_ facts: [Waiting], need: ForwardNeed = .none) {
      self.facts = facts
      self.need = need
      bytes = facts.reduce(0) { $0 + $1.fact.footprint }
    }

    /// Makes a unit of one message to several partitions. The journal holds the message once.
    init(message facts: [Waiting]) {
      self.facts = facts
      need = .none
      let first = facts.first?.fact.footprint ?? 0
      bytes = first + max(0, facts.count - 1) * Fact.tick.footprint
    }

    /// The durable facts of the unit: one part for each partition, in the order of the facts.
    func durable(_ placed: ArraySlice<Placed>) -> [Durable] {
      var parts: [Durable] = []
      var rest = placed
      while let partition = rest.first?.entry.partition {
        let part = rest.prefix { $0.entry.partition == partition }
        parts.append(Durable(facts: Array(part)))
        rest.removeFirst(part.count)
      }
      if !parts.isEmpty { parts[parts.count - 1].need = need }
      return parts
    }
  }

  private let bounds: WorkBounds.Commit
  /// The next commit's bound: smaller than `bounds` after a refusal, until commits succeed.
  private var current: WorkBounds.Commit
  /// Room reserved for all facts that are not stepped yet.
  private(set) var reserved = ForwardNeed.none
  /// Facts that come before all others: put back after a refusal, or left by an earlier life.
  private var first: Deque<Unit> = []
  private var waiting = FairQueue<Unit>()
  private var underWay: [Unit] = []
  private var placed: [Placed] = []
  private var last: [Ordinal]
  private var retryAt: Instant?
  /// Branches that were reached, for the simulation and tests.
  private(set) var reached = Branches()

  /// - Parameter last: the last ordinal in each partition's journal.
  init(last: [Ordinal], bounds: WorkBounds.Commit = WorkBounds.Commit()) {
    self.last = last
    self.bounds = bounds
    current = bounds
  }

  var isIdle: Bool { first.isEmpty && waiting.isEmpty && underWay.isEmpty }
  var isUnderWay: Bool { !underWay.isEmpty }
  /// When waiting facts are tried again after a refusal; `nil` means that no fact waits for another
  /// try.
  var nextTry: Instant? { first.isEmpty && waiting.isEmpty || isUnderWay ? nil : retryAt }

  /// Adds a fact that the relay itself made.
  mutating func add(_ fact: Waiting) { add([fact], of: .relay) }

  /// - Parameters:
  ///   - facts: facts for one partition; they are never divided.
  ///   - need: room reserved, until `facts` are stepped, for the messages that `facts` cause.
  mutating func add(_ facts: [Waiting], of submitter: Submitter, need: ForwardNeed = .none) {
    guard !facts.isEmpty else { return }
    add(Unit(facts, need: need), of: submitter)
  }

  /// Adds one message to several targets. The facts for all targets share the message's bytes in
  /// the journal.
  mutating func add(message facts: [Waiting]) {
    guard !facts.isEmpty else { return }
    add(Unit(message: facts), of: .relay)
  }

  private mutating func add(_ unit: Unit, of submitter: Submitter) {
    let size = FairQueue<Unit>.Size(facts: unit.facts.count, bytes: unit.bytes)
    waiting.append(unit, size, of: submitter)
    reserved += unit.need
  }

  /// Puts all facts that wait now before all that any submitter adds later.
  mutating func putFirst() { first += waiting.removeAll() }

  /// A cut was taken, so every submitter may have a turn again (see `next`).
  mutating func cut() { waiting.cut() }

  /// The next commit; `nil` means that one is under way, that no fact waits, that all waiting facts
  /// must wait for a cut, or that it is too early to try again.
  ///
  /// - Parameter room: how many facts have room before the next cut. Beyond that number, submitters
  ///   that have had a turn since the last cut wait for the cut. So the cut's fold stays small for
  ///   the readers that wait for it.
  mutating func next(at now: Instant, room: Int = .max) -> [JournalEntry]? {
    guard underWay.isEmpty, !first.isEmpty || !waiting.isEmpty else { return nil }
    if let retryAt {
      guard retryAt <= now else { return nil }
      reached.insert(.commitRepeated)
    }
    retryAt = nil
    var left = current
    var next = last
    while let unit = first.first ?? waiting.next(isSparing: placed.count >= room) {
      let fits = unit.facts.count <= left.facts && unit.bytes <= left.bytes
      guard fits || underWay.isEmpty else {
        reached.insert(.commitFull)
        break
      }
      if !fits { reached.insert(.requestKeptWhole) }
      if first.isEmpty { waiting.removeNext() } else { first.removeFirst() }
      left.facts -= unit.facts.count
      left.bytes -= unit.bytes
      underWay.append(unit)
      for item in unit.facts {
        let index = Int(item.partition.number)
        next[index] = next[index].next
        placed.append(
          Placed(
            entry: JournalEntry(
              partition: item.partition, ordinal: next[index], at: now, fact: item.fact),
            origin: item.origin))
      }
    }
    if !waiting.isEmpty, placed.count >= room { reached.insert(.commitHeldForReader) }
    return placed.isEmpty ? nil : placed.map(\.entry)
  }

  /// The commit is durable. The caller now steps the facts of each partition in the order of the
  /// result, and calls `stepped`.
  mutating func committed() -> [Durable] {
    for placed in placed { last[Int(placed.entry.partition.number)] = placed.entry.ordinal }
    // After a refusal the bound doubles with each commit, up to `bounds`.
    current.facts = Self.doubled(current.facts, upTo: bounds.facts)
    current.bytes = Self.doubled(current.bytes, upTo: bounds.bytes)
    var durable: [Durable] = []
    durable.reserveCapacity(underWay.count)
    var first = 0
    for unit in underWay {
      let end = first + unit.facts.count
      durable += unit.durable(placed[first..<end])
      first = end
    }
    (underWay, placed) = ([], [])
    return durable
  }

  /// The facts that reserved this room are stepped, so their messages are now counted in the
  /// outbox.
  mutating func stepped(_ need: ForwardNeed) { reserved -= need }

  /// The consequence of a refused commit. A refused commit wrote nothing.
  enum Refused: Sendable {
    /// These requests are refused. Facts of the relay's own wait for the next commit.
    case requests([RequestTicket])
    /// The commit is tried again in parts.
    case divided
    /// The commit held only this request, and the store will never accept this request.
    case request(RequestTicket)
    /// The commit held only this fact, which the relay itself made, and the store will never accept
    /// this fact.
    case own(Waiting)
  }

  /// The store has no room now, or cannot write now.
  ///
  /// The next commit is half as large, because a smaller group of the relay's own facts may find
  /// room where a large group would have to wait.
  mutating func refused(retryAt: Instant) -> Refused {
    self.retryAt = retryAt
    halve()
    var tickets: [RequestTicket] = []
    var own: Deque<Unit> = []
    for unit in underWay + first + waiting.removeAll() {
      let asked = unit.facts.compactMap(\.ticket)
      if asked.isEmpty {
        own.append(unit)
      } else {
        tickets += asked
        reserved -= unit.need
      }
    }
    first = own
    (underWay, placed) = ([], [])
    return .requests(tickets)
  }

  /// The store will never accept a commit of this size.
  mutating func refusedForSize() -> Refused {
    defer { (underWay, placed) = ([], []) }
    if underWay.count > 1 {
      halve()
      first.prepend(contentsOf: underWay)
      return .divided
    }
    guard let unit = underWay.first, let item = unit.facts.first else { return .divided }
    if item.ticket == nil, unit.facts.count > 1 {
      first.prepend(contentsOf: unit.facts.map { Unit([$0]) })
      return .divided
    }
    reserved -= unit.need
    return item.ticket.map { .request($0) } ?? .own(item)
  }

  /// Puts a fact before all waiting facts; the fact replaces a fact that the store refused.
  mutating func putBack(_ fact: Waiting) { first.prepend(Unit([fact])) }

  private static func doubled(_ value: Int, upTo bound: Int) -> Int {
    value > bound / 2 ? bound : value * 2
  }

  private mutating func halve() {
    let bytes = underWay.reduce(0) { $0 + $1.bytes }
    // The refused commit may have been larger than the bounds, if it was a single unit.
    current = WorkBounds.Commit(
      facts: min(bounds.facts, max(1, placed.count / 2)),
      bytes: min(bounds.bytes, max(1, bytes / 2)))
  }
}

extension GroupCommit.Waiting {
  fileprivate var ticket: RequestTicket? {
    guard case .request(let ticket) = origin else { return nil }
    return ticket
  }

  /// The same forwarded change without the values of its record. `nil` means that the fact is no
  /// forwarded change, or that the change has no values.
  var withoutValues: GroupCommit.Waiting? {
    guard case .forwarded(var forwarded) = fact,
      case .change(var change, let position) = forwarded.message,
      case .record(var record) = change.event, !record.fields.isEmpty
    else { return nil }
    record.fields = []
    change.event = .record(record)
    forwarded.message = .change(change, at: position)
    var smaller = self
    smaller.fact = .forwarded(forwarded)
    return smaller
  }
}
