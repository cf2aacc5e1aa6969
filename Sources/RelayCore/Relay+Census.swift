import OrderedCollections

/// How many lanes are where, for people. Counts everything: ask seldom.
package struct Census: Hashable, Sendable {
  package var idle = 0
  package var gathering = 0
  package var due = 0
  package var inFlight = 0
  package var resting = 0
  package var watching = 0
  package var retired = 0
  package var fanOuts = 0
  /// Zones, the default ones included, of which a producer's numbers are missing for too long.
  package var zonesWithGap = 0
  package var oldestFanOut: Instant?
  package var oldestPending: Instant?
  /// Registrations, and ids remembered.
  package var devices = 0
  package var remembered = 0
  package var isRestoreProven = false
  /// Lanes that wait for their slot in a smear; how often a line was too long for its rate.
  package var smeared = 0
  package var hurried: Int64 = 0

  package init() {}
}

extension Relay {
  package func census(at now: Instant) -> Census {
    var census = Census()
    for id in PartitionID.all { partition(id).count(into: &census, at: now) }
    return census
  }

  /// A lane waits for a fold: do not let it wait long.
  package var isAwaitingFold: Bool {
    for id in PartitionID.all where isAwaitingFold(id) { return true }
    return false
  }
}

extension Partition {
  func count(into census: inout Census, at now: Instant) {
    for device in devices.indices {
      let lane = devices[device].lane
      switch lane.state {
      case .idle: census.idle += 1
      case .gathering: census.gathering += 1
      case .due: census.due += 1
      case .inFlight: census.inFlight += 1
      case .resting: census.resting += 1
      case .watching: census.watching += 1
      case .retired: census.retired += 1
      }
      census.devices += 1
      if lane.pending.isFresh, !lane.hasNews(at: now) { census.smeared += 1 }
      // What waits for a courier's address that has lapsed waits for its device, not for us.
      if !hasLapsed(device, at: now) {
        census.oldestPending = Self.earlier(census.oldestPending, lane.freshSince)
      }
    }
    census.hurried += hurried
    census.fanOuts += fanOuts.count
    census.zonesWithGap += zonesWithGap
    census.remembered += memory.count
    census.isRestoreProven = census.isRestoreProven || isRestoreProven
    census.oldestFanOut = Self.earlier(census.oldestFanOut, fanOuts.values.first?.since)
  }

  private static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}
