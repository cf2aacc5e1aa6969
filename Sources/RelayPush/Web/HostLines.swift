import DequeModule

/// What waits for a place, in a line for each host, and how many places each host has.
///
/// A host that keeps silent keeps its places for the whole of a timeout. So it gets a part of them
/// only, and what waits for it is passed by. Hosts with something waiting and a place left take
/// turns: a step costs the same however long the lines are, and within a host the order is kept.
///
/// A user may register endpoints at any number of hosts. So a host has to earn its places: each
/// quick answer is worth one, each timeout costs half of them. Hosts that have earned nothing yet,
/// or nothing any more, share a few places, and leave the rest to the others.
struct HostLines<Item> {
  /// What became of a place.
  enum Ending: Hashable { case answered, silent, other }

  struct Rule: Hashable {
    /// That a host may have at once.
    var placesMax: Int
    /// That a host may have which has earned fewer.
    var placesAtFirst: Int
    /// Of all hosts together that have earned none.
    var unprovenMax: Int
    /// Idle hosts of which it is known what they have earned; forgotten together when more come.
    var hostsKept = 1_024
  }

  private let rule: Rule
  private var hosts: [String: Host] = [:]
  /// Hosts that have something waiting and a place left, each once, by whether they are proven.
  private var turns: Deque<String> = []
  private var unprovenTurns: Deque<String> = []
  /// Places of hosts that have earned none.
  private var unproven = 0
  private var isUnprovenNext = false

  private struct Host {
    var waiting: Deque<Item> = []
    var active = 0
    var earned = 0
    var isInTurns = false

    var isProven: Bool { earned > 0 }
  }

  init(_ rule: Rule) { self.rule = rule }

  /// Nothing waits whose host has a place left.
  var isHeld: Bool {
    turns.isEmpty && (unprovenTurns.isEmpty || unproven >= rule.unprovenMax)
  }

  mutating func append(_ item: Item, for host: String) {
    hosts[host, default: Host()].waiting.append(item)
    line(up: host)
  }

  /// The next item. It has a place until `left` is told of its host.
  mutating func next() -> (item: Item, host: String)? {
    guard let name = nextHost(), let item = hosts[name]?.waiting.popFirst() else { return nil }
    hosts[name]?.isInTurns = false
    hosts[name]?.active += 1
    if hosts[name]?.isProven == false { unproven += 1 }
    line(up: name)
    return (item, name)
  }

  /// A place of that host is free again.
  mutating func left(_ name: String, as ending: Ending) {
    guard var host = hosts[name] else { return }
    let wasProven = host.isProven
    if !wasProven { unproven -= 1 }
    host.active -= 1
    switch ending {
    case .answered: host.earned = min(rule.placesMax, host.earned + 1)
    case .silent: host.earned /= 2
    case .other: break
    }
    if wasProven != host.isProven {
      unproven += host.isProven ? -host.active : host.active
      // It stands in the line of the others from now on.
      if wasProven {
        turns.removeAll { $0 == name }
      } else {
        unprovenTurns.removeAll { $0 == name }
      }
      host.isInTurns = false
    }
    hosts[name] = host
    line(up: name)
    forgetIdle()
  }

  /// By turns, so that neither kind waits for the other.
  private mutating func nextHost() -> String? {
    let mayTry = !unprovenTurns.isEmpty && unproven < rule.unprovenMax
    isUnprovenNext = mayTry && (!isUnprovenNext || turns.isEmpty)
    return isUnprovenNext ? unprovenTurns.popFirst() : turns.popFirst()
  }

  private mutating func line(up name: String) {
    guard let host = hosts[name], !host.isInTurns else { return }
    if host.waiting.isEmpty {
      // Hosts come and go: what has neither line nor place, and earned nothing, is forgotten.
      if host.active == 0, !host.isProven { hosts[name] = nil }
    } else if host.active < min(rule.placesMax, max(rule.placesAtFirst, host.earned)) {
      hosts[name]?.isInTurns = true
      if host.isProven { turns.append(name) } else { unprovenTurns.append(name) }
    }
  }

  private mutating func forgetIdle() {
    guard hosts.count > rule.hostsKept else { return }
    hosts = hosts.filter { !$0.value.waiting.isEmpty || $0.value.active > 0 }
  }
}
