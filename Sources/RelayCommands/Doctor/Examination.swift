/// What the doctor looks at next, and what it skips and why. The order is that of a change's way:
/// the first failure is the first thing to repair.
struct Examination {
  /// One look; several looks may belong to one group of findings.
  enum Step: Hashable, CaseIterable, Sendable {
    case configuration, files, clock, limits, disk, store, port, daemon, servers, origins
    case credentials, change, clockRun
  }

  enum Action: Equatable {
    case look(Step)
    case skip(Finding)
    case end
  }

  private let isOffline: Bool
  private var steps = Step.allCases[...]
  /// Whether the configuration is good, and whether its store is known.
  var (hasSettings, hasStore) = (false, false)
  /// Whether the daemon has answered.
  var isRunning = false

  init(isOffline: Bool) { self.isOffline = isOffline }

  mutating func next() -> Action {
    while let step = steps.popFirst() {
      // The preflights of web origins need a good configuration and a running daemon. If one is
      // missing, the findings about the servers or the daemon say so already.
      if step == .origins, isOffline || !hasSettings || !isRunning { continue }
      guard let obstacle = obstacle(to: step) else { return .look(step) }
      return .skip(.skipped(step.group, step.subject, obstacle))
    }
    return .end
  }

  /// Why a step is skipped; nil if it is not.
  private func obstacle(to step: Step) -> String? {
    if isOffline, [.daemon, .servers, .change].contains(step) {
      return "--offline: nothing is asked over the network"
    }
    let isKnown =
      switch step {
      case .files, .disk, .store: hasStore
      case .limits, .port, .servers, .credentials, .change: hasSettings
      case .configuration, .clock, .clockRun, .daemon, .origins: true
      }
    guard isKnown else { return "the configuration is not good, so it is not known" }
    return step == .change && !isRunning ? "no daemon has answered that could take a change" : nil
  }
}

extension Examination.Step {
  var group: CheckGroup { place.group }

  /// What a skipped look would have been about.
  fileprivate var subject: String { place.subject }

  private var place: (group: CheckGroup, subject: String) {
    switch self {
    case .configuration: (.configuration, "the configuration")
    case .files: (.files, "owners and modes")
    case .clock, .clockRun: (.clock, "the machine's clock")
    case .limits: (.limits, "open files")
    case .disk: (.disk, "the store's disk")
    case .store: (.store, "the store")
    case .port: (.port, "the addresses to listen on")
    case .daemon: (.daemon, "the running daemon")
    case .servers: (.network, "providers and other servers")
    case .origins: (.network, "origins")
    case .credentials: (.credentials, "credentials")
    case .change: (.change, "a change")
    }
  }
}
