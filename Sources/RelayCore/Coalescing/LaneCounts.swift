import HeapModule

/// How many lanes are in each state. Each input updates the counts, so a reader of the counts need
/// not visit every device.
struct LaneCounts: Sendable {
  private var byStage = [Int](repeating: 0, count: Lane.Stage.allCases.count)
  /// Lanes whose last attempt failed for now.
  private(set) var resting: Set<Int> = []
  /// Lanes that have a slot in a smear. `dropSlot` removes a lane whose slot is over.
  private(set) var slotted: Set<Int> = []
  /// For each lane that has something no wake has told: since when the lane has it. Other lanes
  /// have no item here.
  private var fresh: [Int: Instant] = [:]
  /// The items of `fresh` in order of time. Outdated items are dropped when they are the first.
  private var freshInOrder = Heap<TimeOrdered<Int>>()

  /// The parts of a lane on which the counts depend.
  struct Glance: Equatable {
    var stage: Lane.Stage
    var freshSince: Instant?
    var slot: Instant
  }

  func count(_ stage: Lane.Stage) -> Int { byStage[stage.rawValue] }

  var all: Int { byStage.reduce(0, +) }

  mutating func move(_ device: Int, from before: Glance?, to after: Glance?) {
    guard before != after else { return }
    if before?.stage != after?.stage {
      if let stage = before?.stage { byStage[stage.rawValue] -= 1 }
      if let stage = after?.stage { byStage[stage.rawValue] += 1 }
      if before?.stage == .resting { resting.remove(device) }
      if after?.stage == .resting { resting.insert(device) }
    }
    if before?.slot != after?.slot {
      if let slot = after?.slot, slot > .zero {
        slotted.insert(device)
      } else {
        slotted.remove(device)
      }
    }
    guard before?.freshSince != after?.freshSince else { return }
    fresh[device] = after?.freshSince
    if let since = after?.freshSince {
      freshInOrder.insert(TimeOrdered(at: since, item: device))
    }
    // The heap is rebuilt when more than about half of its items are outdated.
    if freshInOrder.count > 2 * fresh.count + 16 {
      freshInOrder = Heap(fresh.map { TimeOrdered(at: $0.value, item: $0.key) })
    }
  }

  /// Since when something waits to be told, in the lane where it waits longest.
  mutating func oldestFresh() -> Instant? {
    while let first = freshInOrder.min, fresh[first.item] != first.at {
      freshInOrder.removeMin()
    }
    return freshInOrder.min?.at
  }

  /// The device's slot in a smear is over.
  mutating func dropSlot(of device: Int) { slotted.remove(device) }
}

extension Lane {
  /// The name of a lane's state, without the state's associated values.
  enum Stage: Int, CaseIterable {
    case idle, gathering, due, inFlight, resting, watching, retired
  }
}

extension Lane.State {
  var stage: Lane.Stage {
    switch self {
    case .idle: .idle
    case .gathering: .gathering
    case .due: .due
    case .inFlight: .inFlight
    case .resting: .resting
    case .watching: .watching
    case .retired: .retired
    }
  }
}
