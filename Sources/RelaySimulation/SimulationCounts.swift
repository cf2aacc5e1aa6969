import RelayCore

/// How often each event happened: a simulation without faults proves nothing.
package struct SimulationCounts: Sendable {
  package var facts = 0
  package var changes = 0
  package var duplicates = 0
  package var slices = 0
  package var displaced = 0
  package var folds = 0
  package var crashes = 0
  package var restores = 0
  package var stops = 0
  package var trimmed = 0
  package var pages = 0
  package var pagesWithMore = 0
  package var expiries = 0
  package var pushes = 0
  package var alerts = 0
  /// Pushes that were taken back before they left.
  package var recalls = 0
  package var refusals = 0
  package var numbered = 0
  package var ticks = 0
  /// Late changes that a higher number had settled, and zones with a gap at the end, counted by
  /// reader.
  package var settled = 0
  package var gaps = 0
  /// Polls and streams, and the wakes that they carried.
  package var connections = 0
  package var told = 0
  /// Pushes that name a zone to wait for.
  package var waits = 0
  /// Feedback items in the store at the end, and the silences among them.
  package var feedback = 0
  package var silences = 0

  package init() {}

  package static func + (left: SimulationCounts, right: SimulationCounts) -> SimulationCounts {
    var sum = left
    for (_, path) in columns { sum[keyPath: path] += right[keyPath: path] }
    return sum
  }

  package var line: String {
    Self.columns.map { "\($0) \(self[keyPath: $1])" }.joined(separator: ", ")
  }

  private static var columns: [(String, WritableKeyPath<SimulationCounts, Int>)] {
    [
      ("facts", \.facts), ("changes", \.changes), ("duplicates", \.duplicates),
      ("slices", \.slices), ("displaced", \.displaced), ("folds", \.folds),
      ("crashes", \.crashes), ("restores", \.restores), ("stops", \.stops), ("trimmed", \.trimmed),
      ("pages", \.pages),
      ("pages with more", \.pagesWithMore), ("expiries", \.expiries), ("pushes", \.pushes),
      ("alerts", \.alerts), ("recalls", \.recalls), ("refusals", \.refusals),
      ("numbered", \.numbered), ("ticks", \.ticks), ("settled", \.settled), ("gaps", \.gaps),
      ("connections", \.connections), ("told", \.told), ("waits", \.waits),
      ("feedback", \.feedback), ("silences", \.silences),
    ]
  }
}

extension SimulationCounts {
  mutating func count(_ fact: Fact) {
    facts += 1
    switch fact {
    case .change(let change):
      changes += 1
      if change.sequence != nil { numbered += 1 }
    case .tick: ticks += 1
    case .slice: slices += 1
    case .forwarded(let forwarded):
      if case .displaced = forwarded.message { displaced += 1 }
    default: break
    }
  }

  mutating func count(_ answer: PageAnswer) {
    switch answer {
    case .page(let page):
      pages += 1
      if page.hasMore { pagesWithMore += 1 }
    case .expired: expiries += 1
    case .absent: break
    }
  }
}
