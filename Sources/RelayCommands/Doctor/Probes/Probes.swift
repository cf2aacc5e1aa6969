import Foundation
import RelayCore
import RelayCurl
import RelayStore
import RelaySystem
import RelayWire

/// Looks at the machine, the relay and the servers that the configuration names, and brings back
/// evidence. Each piece of evidence makes its own findings, which say what follows.
struct Probes: Sendable {
  let options: ConfigurationOptions
  let isOffline: Bool
  let given: GivenKeys
  let reading: SettingsReading
  /// What the daemon said at the beginning; nil with `--offline`.
  let daemon: DaemonEvidence?
  let console: Console
  let client = HTTPClient(answerBytesMax: Probes.answerBytesMax)
  private let clock = SystemClock()
  private let began: (wall: Instant, boot: Instant)
  /// Servers that did not take a connection; nothing more is asked of them.
  var unreachable: Set<String> = []
  /// True if `server.publicURL` leads to a relay.
  var hasPublicURL = false

  /// The most bytes of an answer: enough for a page with everything that doctors have in the relay.
  static let answerBytesMax = 4 << 20
  /// The time for one server: to connect, or to answer.
  static let timeout = Duration.seconds(10)

  /// Reads the configuration, and asks the daemon for its status.
  init(
    _ options: ConfigurationOptions, isOffline: Bool, given: GivenKeys, _ console: Console
  ) async {
    self.options = options
    self.isOffline = isOffline
    self.given = given
    self.console = console
    began = (clock.wall(), clock.boot())
    reading = options.reading
    if isOffline {
      daemon = nil
    } else {
      let socket = reading.controlSocket ?? Settings.Control.socketDefault
      console.talk(line: "zonerelay: asking the daemon at \(socket)")
      daemon = await Self.ask(socket)
    }
    daemonPID = daemon?.report?.pid ?? Self.holder(of: reading.storeDirectory)
  }

  var settings: Settings? { reading.settings }
  /// True if the daemon has answered.
  var isRunning: Bool { daemon?.report != nil }
  /// The daemon's process; nil if none runs, or if this user may not see it.
  let daemonPID: Int32?
  var now: Instant { clock.wall() }

  /// The findings of one look; none for the change's walk, which `Doctor` performs.
  mutating func look(_ step: Examination.Step) async -> [Finding] {
    switch step {
    case .configuration: configuration
    case .files: files.findings
    case .clock: [clockEvidence.finding]
    case .limits: [limits?.finding].compactMap(\.self)
    case .disk: disk?.findings ?? []
    case .store: store?.findings ?? []
    case .port: ports.map(\.finding)
    case .daemon: daemon?.findings ?? []
    case .servers: await servers()
    case .credentials: await credentials()
    case .origins: await origins().map(\.finding)
    case .change: []
    case .clockRun:
      ClockRun(wall: clock.wall() - began.wall, boot: clock.boot() - began.boot).findings
    }
  }

  /// Prints a line on stderr before something that may take seconds.
  func say(_ what: String) { console.talk(line: "zonerelay: \(what)") }

  /// The process of the daemon that has the store, found without a request to the daemon.
  private static func holder(of directory: String?) -> Int32? {
    guard let pid = directory.flatMap({ StoreDescription.lastHolder(of: $0) }),
      OtherProcess(pid).name?.hasPrefix("zonerelay") == true, !OtherProcess(pid).hasEnded
    else { return nil }
    return pid
  }

  private static func ask(_ socket: String) async -> DaemonEvidence {
    do {
      let report = try await ControlLine(socket: socket).get("/status", as: StatusReport.self)
      return DaemonEvidence(socket: socket, outcome: .success(report))
    } catch {
      return DaemonEvidence(socket: socket, outcome: .failure(Failure(error)))
    }
  }

  private var configuration: [Finding] {
    var problems = reading.problems + reading.directoryProblems
    if let socket = reading.socketProblem { problems.append(socket) }
    if !isOffline { problems += reading.addressProblems }
    return ConfigurationEvidence(file: options.config, problems: problems).findings
  }
}
