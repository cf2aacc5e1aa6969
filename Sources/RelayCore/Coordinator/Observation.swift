/// Reports the coordinator's steps to an observer of the simulation or of a test. The daemon has no
/// observer.
struct Observation {
  var observer: ((Coordinator.Step) -> Void)?
  var reached = Branches()

  var hasObserver: Bool { observer != nil }

  func stepped(_ step: @autoclosure () -> Coordinator.Step) { observer?(step()) }
}

extension Coordinator {
  /// A fact that was stepped, and its effects.
  package struct Step {
    package var entry: JournalEntry
    package var effects: [Effect]
    /// True if an earlier change still had slices to be stepped in the partition.
    package var isFanningOut: Bool
  }

  /// The function that the coordinator calls after each step, in order.
  package var observer: ((Step) -> Void)? {
    get { observation.observer }
    set { observation.observer = newValue }
  }

  /// The branches that this coordinator has reached.
  package var reached: Branches {
    var all = observation.reached
    all.formUnion(commit.reached)
    return all
  }

  mutating func reach(_ branch: Branch) { observation.reached.insert(branch) }
}
