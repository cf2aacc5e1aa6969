import RelayCore
import Testing

@testable import RelayPush

@Suite struct PoolTests {
  private let limits = EngineLimits.test
  private func at(_ milliseconds: Int64) -> Uptime { Uptime(milliseconds: milliseconds) }
  private func link(_ number: UInt64) -> LinkID { LinkID(number) }

  private func running() -> Pool {
    var pool = Pool(limits: limits, probation: false, seed: 1)
    #expect(pool.start(at: at(0)) == [.open(link(1)), .open(link(2))])
    pool.opened(link(1), at: at(1))
    pool.opened(link(2), at: at(1))
    return pool
  }

  @Test func `requests go to the least loaded connection`() {
    var pool = running()
    #expect(pool.begin(at: at(2)) == link(1))
    #expect(pool.begin(at: at(2)) == link(2))
    #expect(pool.begin(at: at(2)) == link(1))
    #expect(pool.ended(link(1), answered: true, proof: true, at: at(3)) == [])
    #expect(pool.ended(link(1), answered: true, proof: true, at: at(3)) == [])
    #expect(pool.begin(at: at(4)) == link(1))
    pool.allowed(link(1), streams: 1)
    #expect(pool.begin(at: at(4)) == link(2))
    pool.allowed(link(2), streams: 1)
    #expect(pool.begin(at: at(4)) == nil)
  }

  @Test func `a connection that gets a GOAWAY drains while its successor opens`() {
    var pool = running()
    #expect(pool.begin(at: at(2)) == link(1))
    _ = pool.ended(link(1), answered: true, proof: true, at: at(3))
    #expect(pool.begin(at: at(4)) == link(1))
    #expect(pool.drain(link(1), at: at(5)) == [.open(link(3))])
    #expect(pool.begin(at: at(6)) == link(2))
    #expect(
      pool.ended(link(1), answered: true, proof: true, at: at(7)) == [.close(link(1), .drained)])
    #expect(pool.closed(link(1), at: at(8)) == [])
    #expect(pool.drain(link(2), at: at(9)) == [.open(link(4))])
    #expect(pool.open == 0)
    pool.opened(link(3), at: at(10))
    #expect(pool.begin(at: at(11)) == link(3))
  }

  /// The first connection and its first replacement open at once. Later delays double, with jitter,
  /// up to the cap. Only one attempt runs at a time.
  @Test func `reconnect delays grow with each failure, and an answer resets them`() throws {
    var limits = limits
    limits.connections = 1
    var pool = Pool(limits: limits, probation: false, seed: 1)
    #expect(pool.start(at: at(0)) == [.open(link(1))])
    var now = at(0)
    #expect(pool.closed(link(1), at: now) == [.open(link(2))])
    var last = link(2)
    for whole: Int64 in [100, 200, 400, 800, 1_600, 1_600, 1_600] {
      #expect(pool.closed(last, at: now) == [])
      let next = try #require(pool.nextTimer)
      let wait = (next - now).milliseconds
      #expect(wait >= whole / 2 && wait <= whole)
      #expect(pool.timerFired(at: at(next.milliseconds - 1)) == [])
      last = link(last.number + 1)
      #expect(pool.timerFired(at: next) == [.open(last)])
      now = next
    }
    pool.opened(last, at: now)
    #expect(pool.begin(at: now) == last)
    _ = pool.ended(last, answered: true, proof: true, at: now)
    #expect(pool.closed(last, at: now) == [.open(link(last.number + 1))])
  }

  @Test func `the pool waits before it reconnects to a peer that hangs up`() {
    var pool = running()
    #expect(pool.closed(link(1), at: at(2)) == [.open(link(3))])
    pool.opened(link(3), at: at(3))
    #expect(pool.closed(link(3), at: at(4)) == [])
    #expect(pool.nextTimer.map { $0 > at(4) } == true)
  }

  @Test func `a silent connection is pinged, closed and replaced`() {
    var pool = running()
    #expect(pool.begin(at: at(10)) == link(1))
    let stalled = at(10) + limits.stallAfter
    #expect(pool.timerFired(at: stalled) == [.ping(link(1))])
    #expect(
      pool.timerFired(at: stalled + limits.pongWithin)
        == [.close(link(1), .silent), .open(link(3))])
    #expect(pool.closed(link(1), at: stalled + limits.pongWithin) == [])
    #expect(pool.ended(link(1), answered: true, proof: true, at: stalled) == [])
  }

  @Test func `a stopping pool closes idle connections and lets the others finish`() {
    var pool = running()
    #expect(pool.begin(at: at(2)) == link(1))
    #expect(pool.stop(at: at(3)) == [.close(link(2), .drained)])
    #expect(
      pool.ended(link(1), answered: true, proof: true, at: at(4)) == [.close(link(1), .drained)])
    #expect(pool.isEmpty)
    #expect(pool.nextTimer == nil)
  }

  @Test func `the end of the grace period closes all connections for good`() {
    var pool = running()
    #expect(pool.begin(at: at(2)) == link(1))
    _ = pool.stop(at: at(3))
    #expect(pool.closeAll(at: at(4)) == [.close(link(1), .stopped)])
    #expect(pool.closed(link(1), at: at(5)) == [])
    #expect(pool.timerFired(at: at(99_999)) == [])
  }

  /// Tests every sequence of six events on a pool of one connection. The pool never has two opening
  /// connections, more streams than the limit, or a new stream on a draining connection.
  @Test func `no order of events makes the pool exceed its limits`() {
    var limits = limits
    limits.connections = 1
    limits.streamsMax = 2
    let letters = 7
    let length = 6
    var words = 1
    for _ in 0..<length { words *= letters }
    for word in 0..<words {
      var world = PoolWorld(limits: limits)
      var rest = word
      for _ in 0..<length {
        world.happen(rest % letters)
        rest /= letters
      }
      if !world.problems.isEmpty {
        Issue.record("word \(word): \(world.problems)")
        return
      }
    }
  }
}

/// A pool, and what its connections really do.
private struct PoolWorld {
  private var pool: Pool
  private var now = Uptime(milliseconds: 0)
  private var opening: [LinkID] = []
  private var open: [LinkID: Int] = [:]
  private var draining: Set<LinkID> = []
  private let streamsMax: Int
  private(set) var problems: [String] = []

  init(limits: EngineLimits) {
    streamsMax = limits.streamsMax
    pool = Pool(limits: limits, probation: false, seed: 3)
    perform(pool.start(at: now))
  }

  mutating func happen(_ letter: Int) {
    now = now + Span(milliseconds: 1)
    let current = open.keys.filter { !draining.contains($0) }.max()
    switch letter {
    case 0:
      guard let link = opening.popLast() else { return }
      pool.opened(link, at: now)
      open[link] = 0
    case 1: begin()
    case 2: end(open.keys.filter { open[$0]! > 0 }.min(), answered: true)
    case 3:
      guard let link = current else { return }
      draining.insert(link)
      perform(pool.drain(link, at: now))
    case 4:
      guard let link = open.keys.min() ?? opening.popLast() else { return }
      open[link] = nil
      opening.removeAll { $0 == link }
      perform(pool.closed(link, at: now))
    case 5:
      now = pool.nextTimer ?? now
      perform(pool.timerFired(at: now))
    default:
      guard let link = open.keys.max() else { return }
      pool.heard(link, at: now)
    }
  }

  private mutating func begin() {
    guard let link = pool.begin(at: now) else { return }
    guard let streams = open[link] else { return problems.append("a stream on no connection") }
    if draining.contains(link) { problems.append("a stream on a draining connection") }
    if streams >= streamsMax { problems.append("too many streams") }
    open[link] = streams + 1
  }

  private mutating func end(_ link: LinkID?, answered: Bool) {
    guard let link else { return }
    open[link]! -= 1
    perform(pool.ended(link, answered: answered, proof: answered, at: now))
  }

  private mutating func perform(_ actions: [Pool.Action]) {
    for action in actions {
      switch action {
      case .open(let link):
        if !opening.isEmpty { problems.append("two attempts at once") }
        if open.keys.contains(where: { !draining.contains($0) }) {
          problems.append("two connections in one slot")
        }
        opening.append(link)
      case .ping(let link):
        if open[link] == nil { problems.append("a ping to a closed connection") }
      case .close(let link, let reason):
        if reason == .drained, open[link] != 0 { problems.append("closed before it was done") }
        open[link] = nil
        opening.removeAll { $0 == link }
      }
    }
  }
}
