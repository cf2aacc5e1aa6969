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
  private var hasSettings = false
  private var hasStore = false
  private var isRunning = false
  private(set) var findings: [Finding] = []

  init(isOffline: Bool) { self.isOffline = isOffline }

  mutating func next() -> Action {
    while let step = steps.popFirst() {
      switch need(of: step) {
      case .met: return .look(step)
      case .unmet(let why, let remedy):
        let finding = Finding.skipped(step.group, step.subject, why, remedy: remedy)
        findings.append(finding)
        return .skip(finding)
      case .silent: continue
      }
    }
    return .end
  }

  /// The findings of a look.
  mutating func found(_ new: [Finding]) { findings += new }

  /// The configuration was read: whether it is good, and whether its store is known.
  mutating func read(hasSettings: Bool, hasStore: Bool) {
    (self.hasSettings, self.hasStore) = (hasSettings, hasStore)
  }

  mutating func asked(isRunning: Bool) { self.isRunning = isRunning }

  private enum Need {
    case met
    case unmet(String, remedy: String?)
    /// The step's finding would only repeat another one.
    case silent
  }

  private func need(of step: Step) -> Need {
    switch step {
    case .configuration, .clock, .clockRun: .met
    case .files, .disk, .store: hasStore ? .met : .unmet(Self.unread, remedy: nil)
    case .limits, .port: hasSettings ? .met : .unmet(Self.unread, remedy: nil)
    case .credentials: hasSettings ? .met : .unmet(Self.unread, remedy: nil)
    case .daemon: isOffline ? Self.offline : .met
    case .servers: isOffline ? Self.offline : hasSettings ? .met : .unmet(Self.unread, remedy: nil)
    case .origins: isOffline || !hasSettings || !isRunning ? .silent : .met
    case .change:
      if isOffline {
        Self.offline
      } else if !hasSettings {
        .unmet(Self.unread, remedy: nil)
      } else if !isRunning {
        .unmet("no daemon has answered that could take a change", remedy: nil)
      } else {
        .met
      }
    }
  }

  private static let unread = "the configuration is not good, so it is not known"
  private static let offline = Need.unmet(
    "--offline: nothing is asked over the network", remedy: nil)
}

extension Examination.Step {
  var group: CheckGroup {
    switch self {
    case .configuration: .configuration
    case .files: .files
    case .clock, .clockRun: .clock
    case .limits: .limits
    case .disk: .disk
    case .store: .store
    case .port: .port
    case .daemon: .daemon
    case .servers, .origins: .network
    case .credentials: .credentials
    case .change: .change
    }
  }

  /// What a skipped look would have been about.
  fileprivate var subject: String {
    switch self {
    case .configuration: "the configuration"
    case .files: "owners and modes"
    case .clock, .clockRun: "the machine's clock"
    case .limits: "open files"
    case .disk: "the store's disk"
    case .store: "the store"
    case .port: "the addresses to listen on"
    case .daemon: "the running daemon"
    case .servers: "providers and other servers"
    case .credentials: "credentials"
    case .origins: "origins"
    case .change: "a change"
    }
  }
}
