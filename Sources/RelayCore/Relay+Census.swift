import OrderedCollections

/// How many lanes are in each state, for `status`. The cost of a census does not grow with the
/// number of devices; only lanes that wait in a smear are visited one by one.
package struct Census: Hashable, Sendable {
  package var lanes = Lanes()
  package var fanOuts = 0
  /// How many zones, default zones included, have a gap, because numbers of a producer have been
  /// missing in the zone for too long.
  package var zonesWithGap = 0
  package var oldestFanOut: Instant?
  package var oldestPending: Instant?
  /// How many registrations there are: retired ones are included, and those of the doctor are not.
  /// `remembered` counts the remembered event ids.
  package var devices = 0
  package var remembered = 0
  package var oldestRemembered: Instant?
  package var isRestoreProven = false
  /// How many lanes wait for their slot in a smear; `hurried` counts how often, since start, a
  /// smear has reached its longest time.
  package var smeared = 0
  package var hurried: Int64 = 0

  package init() {}

  package struct Lanes: Hashable, Sendable {
    package var idle = 0
    package var gathering = 0
    package var due = 0
    package var inFlight = 0
    package var resting = 0
    package var watching = 0
    package var retired = 0

    package init() {}
  }
}

extension Relay {
  package mutating func census(at now: Instant) -> Census {
    var census = Census()
    for index in partitions.indices { partitions[index].count(into: &census, at: now) }
    return census
  }
}

extension Partition {
  mutating func count(into census: inout Census, at now: Instant) {
    let counts = devices.counts
    census.lanes.idle += counts.count(.idle)
    census.lanes.gathering += counts.count(.gathering)
    census.lanes.due += counts.count(.due)
    census.lanes.inFlight += counts.count(.inFlight)
    census.lanes.resting += counts.count(.resting)
    census.lanes.watching += counts.count(.watching)
    census.lanes.retired += counts.count(.retired)
    census.devices += counts.all
    census.smeared += waiting(at: now)
    census.oldestPending = Self.earlier(census.oldestPending, devices.oldestFresh())
    census.hurried += pacers.hurried
    census.fanOuts += fanOuts.count
    census.zonesWithGap += zonesWithGap
    census.remembered += ids.count
    census.oldestRemembered = Self.earlier(census.oldestRemembered, ids.oldest?.at)
    census.isRestoreProven = census.isRestoreProven || expiries.isRestoreProven
    census.oldestFanOut = Self.earlier(census.oldestFanOut, fanOuts.oldest?.since)
  }

  /// How many lanes wait for their slot in a smear.
  private mutating func waiting(at now: Instant) -> Int {
    var count = 0
    var over: [Int] = []
    for device in devices.counts.slotted {
      let lane = devices[device].lane
      if lane.slot <= now {
        over.append(device)
      } else if lane.pending.isFresh, !lane.hasNews(at: now) {
        count += 1
      }
    }
    for device in over { devices.dropSlot(of: device) }
    return count
  }

  private static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}
