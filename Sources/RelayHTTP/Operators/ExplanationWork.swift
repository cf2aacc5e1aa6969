import RelayCore
import RelayEngine
import RelayWire

/// Makes the explanations of one answer. Stops once they have examined `stepsMax` entries and
/// deliveries, or have listed `linesMax` of them, or once the time is over. The first explanation
/// is made in any case. `moreDevices` counts the devices that are left out.
struct ExplanationWork {
  private let search: TraceSearch
  private let standings: [Standing]
  private let keys: any PushKeys
  private let stepsMax: Int
  private let linesMax: Int
  private(set) var steps = 0
  private var lines = 0
  private var isBegun = false

  init(
    _ search: TraceSearch, _ standings: [Standing], keys: any PushKeys,
    bounds: (steps: Int, lines: Int) = (TraceSearch.stepsMax, TraceSearch.linesMax)
  ) {
    (self.search, self.standings, self.keys) = (search, standings, keys)
    (stepsMax, linesMax) = bounds
  }

  /// - Parameter hasTime: asked before each explanation but the first.
  mutating func report(at now: Instant, while hasTime: () -> Bool) -> ExplainReport {
    // Explains the newest changes first, because operators ask for them most.
    var changes: [ExplainReport.ExplainedChange] = []
    for name in search.found.reversed() {
      guard let entry = search.change(named: name) else { continue }
      changes.append(explained(name, TraceLine(entry, keys: keys), while: hasTime))
    }
    return ExplainReport(
      now: now.milliseconds, knownSince: search.since?.milliseconds, gaps: search.gaps,
      devices: standings.filter { search.known.contains($0.device) }
        .map { ExplainReport.DeviceStanding($0) },
      changes: changes.reversed(), moreChanges: search.hasMore)
  }

  private mutating func explained(
    _ name: Identifier, _ change: TraceLine, while hasTime: () -> Bool
  ) -> ExplainReport.ExplainedChange {
    let known = Set(search.devices(of: name))
    var (devices, count): ([ExplainReport.ExplainedDevice], Int) = ([], 0)
    for standing in standings where known.contains(standing.device) {
      guard !isBegun || (steps < stepsMax && lines < linesMax && hasTime()) else { break }
      isBegun = true
      let found = Explanation.of(name, in: search.entries, standing, counting: &steps)
      lines += found.reduce(0) { $0 + $1.deliveries.count + $1.story.count }
      devices += found.map { ExplainReport.ExplainedDevice($0, keys) }
      count += 1
    }
    return ExplainReport.ExplainedChange(
      change: change, devices: devices,
      moreDevices: search.devicesLeft(of: name) + known.count - count)
  }
}
