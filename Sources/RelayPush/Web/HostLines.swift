import DequeModule

/// The requests that wait for a place, in a queue for each host, and the places that hosts may use.
/// A request on its way holds one place.
///
/// A silent host keeps its places for a whole timeout. So each host gets only a part of all places,
/// and requests to other hosts do not wait behind the requests to the silent host. Hosts with a
/// waiting request and a free place take turns, so to find the next request costs the same for
/// queues of any length, and the requests to one host keep their order.
///
/// A user may register endpoints at any number of hosts. So a host has to earn its places: each
/// quick answer earns one, and each slow or missing answer costs half of the earned places. All
/// hosts without earned places share a few places, and leave the rest to the other hosts.
struct HostLines<Item> {
  /// How a request gave up its place.
  enum Ending: Hashable { case answered, silent, other }

  private let limits: WebLimits
  private var hosts: [String: Host] = [:]
  /// The hosts with earned places that have a waiting request and a free place, each once.
  private var turns: Deque<String> = []
  private var unprovenTurns: Deque<String> = []
  /// The number of places in use by hosts that have no earned place now.
  private var unproven = 0
  private var isUnprovenNext = false

  private struct Host {
    var waiting: Deque<Item> = []
    var active = 0
    var earned = 0
    var isInTurns = false

    var isProven: Bool { earned > 0 }
  }

  init(_ limits: WebLimits) { self.limits = limits }

  /// True if no waiting request can have a place now.
  var isHeld: Bool {
    turns.isEmpty && (unprovenTurns.isEmpty || unproven >= limits.transfersToUnprovenMax)
  }

  mutating func append(_ item: Item, for host: String) {
    hosts[host, default: Host()].waiting.append(item)
    line(up: host)
  }

  /// The next request. The request has a place until the caller calls `left` with its host.
  mutating func next() -> (item: Item, host: String)? {
    guard let name = nextHost(), let item = hosts[name]?.waiting.popFirst() else { return nil }
    hosts[name]?.isInTurns = false
    hosts[name]?.active += 1
    if hosts[name]?.isProven == false { unproven += 1 }
    line(up: name)
    return (item, name)
  }

  /// A request to the host `name` has given up its place.
  mutating func left(_ name: String, as ending: Ending) {
    guard var host = hosts[name] else { return }
    let wasProven = host.isProven
    if !wasProven { unproven -= 1 }
    host.active -= 1
    switch ending {
    case .answered: host.earned = min(limits.transfersPerHostMax, host.earned + 1)
    case .silent: host.earned /= 2
    case .other: break
    }
    if wasProven != host.isProven {
      unproven += host.isProven ? -host.active : host.active
      // The host has become proven or unproven, so it leaves the list of its former group.
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

  /// Proven and unproven hosts alternate, so that neither group waits for the other.
  private mutating func nextHost() -> String? {
    let mayTry = !unprovenTurns.isEmpty && unproven < limits.transfersToUnprovenMax
    isUnprovenNext = mayTry && (!isUnprovenNext || turns.isEmpty)
    return isUnprovenNext ? unprovenTurns.popFirst() : turns.popFirst()
  }

  private mutating func line(up name: String) {
    guard let host = hosts[name], !host.isInTurns else { return }
    if host.waiting.isEmpty {
      // Forget a host that has no waiting request, no used place and no earned place.
      if host.active == 0, !host.isProven { hosts[name] = nil }
    } else if host.active
      < min(limits.transfersPerHostMax, max(limits.transfersPerNewHostMax, host.earned))
    {
      hosts[name]?.isInTurns = true
      if host.isProven { turns.append(name) } else { unprovenTurns.append(name) }
    }
  }

  private mutating func forgetIdle() {
    guard hosts.count > limits.hostsKept else { return }
    hosts = hosts.filter { !$0.value.waiting.isEmpty || $0.value.active > 0 }
  }
}
