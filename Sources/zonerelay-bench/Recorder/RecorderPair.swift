import Foundation

/// A daemon with the flight recorder and one without, side by side.
///
/// A machine's speed changes within seconds. So the bench cuts the work of each daemon into short
/// slices, lets the daemons work in turn, and compares each slice of one daemon with the
/// neighbouring slice of the other daemon.
struct RecorderPair {
  /// How events are posted.
  enum Posting: CaseIterable {
    case batched, alone

    var eventsEach: Int { self == .batched ? 100 : 1 }
    var name: String { self == .batched ? "in batches of 100" : "alone" }
  }

  /// The CPU times of the slices of work, in µs an event. Two slices of the same index ran one
  /// after the other.
  struct Costs {
    var on: [Double] = []
    var off: [Double] = []

    /// The cost with the recorder divided by the cost without it, for each index.
    var ratios: [Double] { zip(on, off).map { $0 / $1 } }
  }

  /// The number of slices into which the bench cuts a daemon's work, for each way of posting.
  private static let slices = 4
  private static let warm = 200

  private let on: PathScene
  private let off: PathScene
  /// Whether the daemon with the recorder was started first. The daemon that was started first also
  /// works first in each slice of work with an even number.
  private let isOnFirst: Bool
  /// The number of events that a daemon takes in one slice of its work.
  private let events: Int

  static func start(
    _ bench: Workbench, events: Int, isOnFirst: Bool
  ) async throws -> RecorderPair {
    let users = slices * events * Posting.allCases.count + warm
    func start(isOn: Bool) async throws -> PathScene {
      try await PathScene.start(
        bench, name: isOn ? "on" : "off", users: users,
        settings: isOn ? "" : "trace: { size: 0 }")
    }
    let (on, off) = try await inTurn(isOursFirst: isOnFirst) {
      try await start(isOn: true)
    } reference: {
      try await start(isOn: false)
    }
    return RecorderPair(on: on, off: off, isOnFirst: isOnFirst, events: events)
  }

  func run() async throws -> [Posting: Costs] {
    for scene in [on, off] { _ = try await scene.cost(of: 0..<Self.warm, eventsEach: 100) }
    var costs: [Posting: Costs] = [:]
    var next = Self.warm
    for slice in 0..<Self.slices {
      for posting in Posting.allCases {
        let users = next..<next + events
        next += events
        func cost(_ scene: PathScene) async throws -> Double {
          try await scene.cost(of: users, eventsEach: posting.eventsEach).each(of: events)
        }
        // With each slice of work, the other daemon works first, so that a drift of the machine's
        // speed favours neither daemon.
        let pair = try await inTurn(isOursFirst: slice.isMultiple(of: 2) == isOnFirst) {
          try await cost(on)
        } reference: {
          try await cost(off)
        }
        costs[posting, default: Costs()].on.append(pair.ours)
        costs[posting, default: Costs()].off.append(pair.reference)
      }
    }
    return costs
  }

  /// The highest resident memory of each daemon, in MiB.
  func memory() throws -> (on: Double, off: Double) {
    (try Memory.most(of: on.daemon.child), try Memory.most(of: off.daemon.child))
  }

  func end() async throws {
    try await on.end()
    try await off.end()
  }
}
