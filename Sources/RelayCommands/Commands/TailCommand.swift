import ArgumentParser
import Foundation
import RelayCore
import RelayWire
import UnixSignals

struct TailCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Follows what the relay decides, live.",
    discussion: """
      Each line is one entry of the flight recorder: a change accepted, a subscription matched, a \
      wait, a wake, its answer, an acknowledgement. No payload, no push token and no value of a \
      field is ever among them.

      The relay waits for no reader: if entries come faster than a tail is read, the tail gets \
      their number in place of them. At most 8 tails run at once. A tail ends with Ctrl-C, when \
      the daemon stops, and when its output is closed.

      With --user a change is shown if the user made it or owns its zone. If a zone's name holds a \
      slash, its owner must be named: what stands before the first slash is taken for the owner.

      Examples:
        zonerelay tail --device 6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11
        zonerelay tail --zone _abc/Notes --json
        zonerelay tail --route apns/com.example.notes

      Exits 1 if the daemon cuts the tail off, or if the output cannot be written.
      """)

  @Option(help: ArgumentHelp("Only what concerns this installation.", valueName: "clientId"))
  var device: String?

  @Option(help: ArgumentHelp("Only what concerns this user.", valueName: "user"))
  var user: String?

  @Option(
    help: ArgumentHelp("Only what names this zone.", valueName: "owner/name"))
  var zone: String?

  @Option(
    help: ArgumentHelp("Only what names this route.", valueName: "transport/topic"))
  var route: String?

  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Print JSON lines, a documented contract: see docs/operations.md.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    try scope.check(zone: zone)
    if let device, ClientID(text: device) == nil {
      throw ValidationError("--device must be a UUID, as device list shows it: \(device)")
    }
    let known = Transport.allCases.map(\.name)
    if let route, !known.contains(String(route.prefix { $0 != "/" })) {
      throw ValidationError(
        "--route must be TRANSPORT/TOPIC, and the transport one of "
          + "\(known.joined(separator: ", ")): \(route)")
    }
  }

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    // Without this line, a closed output would end the process by the signal SIGPIPE, before the
    // command comes to its normal end.
    signal(SIGPIPE, SIG_IGN)
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let renderer = Renderer(format: json ? .jsonLine : .text, console: console)
    let query =
      [("device", device), ("user", user), ("zone", zone), ("route", route)] + scope.query
    let isInterrupted = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await control.follow("/tail", query) { line in
          // Cannot fail: a line that was decoded can be encoded again.
          if let line { try? renderer.show(line) }
          return console.isOpen()
        }
        return false
      }
      group.addTask {
        for await _ in signals { return true }
        return true
      }
      // The task that ends first ends both tasks.
      defer { group.cancelAll() }
      return try await group.next() ?? true
    }
    if !isInterrupted, console.isOpen() { console.talk(line: "zonerelay: the daemon has stopped") }
    return .done
  }
}
