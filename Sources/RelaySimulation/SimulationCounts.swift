import RelayCore

/// How often each event happened. The counts show whether a run met faults; a run without faults
/// proves nothing.
package struct SimulationCounts: Sendable {
  package enum Event: String, CaseIterable, Sendable {
    case facts, changes, duplicates, slices, displaced, folds, crashes, restores, stops, trimmed
    case pages
    case pagesWithMore = "pages with more"
    case expiries, pushes, alerts
    /// Pushes that were taken back before they left.
    case recalls
    case refusals, numbered, ticks
    /// Late changes without effect, because a change with a higher number came before.
    case settled
    /// Zones that have a gap when the run ends, counted once for each reader.
    case gaps
    /// Courier polls and streams, and the wakes handed to them.
    case connections, told
    /// Pushes that tell a device to wait before it fetches a zone.
    case waits
    /// Feedback items in the store at the end, and the silences among them.
    case feedback, silences
  }

  private var counts: [Event: Int] = [:]

  package init() {}

  package subscript(event: Event) -> Int {
    get { counts[event] ?? 0 }
    set { counts[event] = newValue }
  }

  package static func + (left: SimulationCounts, right: SimulationCounts) -> SimulationCounts {
    var sum = left
    sum.counts.merge(right.counts, uniquingKeysWith: +)
    return sum
  }

  package var line: String {
    Event.allCases.map { "\($0.rawValue) \(self[$0])" }.joined(separator: ", ")
  }
}

extension SimulationCounts {
  mutating func count(_ fact: Fact) {
    self[.facts] += 1
    switch fact {
    case .change(let change):
      self[.changes] += 1
      if change.sequence != nil { self[.numbered] += 1 }
    case .tick: self[.ticks] += 1
    case .slice: self[.slices] += 1
    case .forwarded(let forwarded):
      if case .displaced = forwarded.message { self[.displaced] += 1 }
    default: break
    }
  }

  mutating func count(_ answer: PageAnswer) {
    switch answer {
    case .page(let page):
      self[.pages] += 1
      if page.hasMore { self[.pagesWithMore] += 1 }
    case .expired: self[.expiries] += 1
    case .absent: break
    }
  }
}
