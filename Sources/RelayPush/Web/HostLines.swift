import DequeModule

/// What waits for a place, in a line for each host, and how many places each host has.
///
/// A host that keeps silent keeps its places for the whole of a timeout. So it gets a part of them
/// only, and what waits for it is passed by. Hosts with something waiting and a place left take
/// turns: a step costs the same however long the lines are, and within a host the order is kept.
struct HostLines<Item> {
  private let placesMax: Int
  private var hosts: [String: Host] = [:]
  /// Hosts that have something waiting and a place left, each once.
  private var turns: Deque<String> = []

  private struct Host {
    var waiting: Deque<Item> = []
    var active = 0
    var isInTurns = false
  }

  /// - Parameter placesMax: that a host may have at once.
  init(placesMax: Int) {
    self.placesMax = max(1, placesMax)
  }

  /// Nobody waits whose host has a place left.
  var isHeld: Bool { turns.isEmpty }

  mutating func append(_ item: Item, for host: String) {
    hosts[host, default: Host()].waiting.append(item)
    line(up: host)
  }

  /// Who is next. It has a place until `left` is told of its host.
  mutating func next() -> (item: Item, host: String)? {
    guard let host = turns.popFirst(), let item = hosts[host]?.waiting.popFirst() else {
      return nil
    }
    hosts[host]?.isInTurns = false
    hosts[host]?.active += 1
    line(up: host)
    return (item, host)
  }

  /// A place of that host is free again.
  mutating func left(_ host: String) {
    hosts[host]?.active -= 1
    line(up: host)
  }

  private mutating func line(up name: String) {
    guard let host = hosts[name], !host.isInTurns else { return }
    if host.waiting.isEmpty {
      // Hosts come and go: what has neither line nor place is forgotten.
      if host.active == 0 { hosts[name] = nil }
    } else if host.active < placesMax {
      hosts[name]?.isInTurns = true
      turns.append(name)
    }
  }
}
