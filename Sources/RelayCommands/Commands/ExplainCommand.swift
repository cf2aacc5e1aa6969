import ArgumentParser
import RelayCore
import RelayWire

struct ExplainCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Tells why a change woke a device, or why it did not.",
    discussion: """
      The relay keeps what it decided in a flight recorder (trace.size in the configuration). From \
      it this command tells the story of a change for each device: which subscription it matched, \
      what it waited for, which wake told of it, what the provider answered, and how the device \
      acknowledged. If no wake told of it, there is exactly one reason of a closed list and what \
      to do about it: see docs/operations.md.

      What is older than the recorder's memory is not guessed: it is no longer known.

      Examples:
        zonerelay explain --device 6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11
        zonerelay explain --device 6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11 --zone _abc/Notes --last 3
        zonerelay explain --change /records/api-1 01JD8Z
        zonerelay explain --change=/records/api-1 --change=-5   (an id that begins with a dash)
        zonerelay explain --zone _abc/Notes --record A1 --json | jq '.changes[].devices[].result'

      If a zone's name holds a slash, its owner must be named: what stands before the first slash \
      is taken for the owner.

      Exits 1 if no device has this id, or if no such change is remembered.
      """)

  @Option(help: ArgumentHelp("The installation that was woken or not.", valueName: "clientId"))
  var device: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("The change with this source and id.", valueName: "source id"))
  var change: [String] = []

  @Option(
    help: ArgumentHelp("Changes of this zone, with its owner or without.", valueName: "owner/name"))
  var zone: String?

  @Option(help: ArgumentHelp("Changes of this record; needs --zone.", valueName: "recordName"))
  var record: String?

  @Option(help: ArgumentHelp("The newest changes, 1 to 100.", valueName: "count"))
  var last = 10

  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Print JSON, a documented contract: see docs/operations.md.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard change.isEmpty || change.count == 2 else {
      throw ValidationError("--change takes a source and an id")
    }
    guard (1...100).contains(last) else { throw ValidationError("--last must be 1 to 100") }
    guard record == nil || zone?.utf8.contains(UInt8(ascii: "/")) == true else {
      throw ValidationError("--record needs --zone OWNER/NAME")
    }
    guard change.isEmpty || zone == nil else {
      throw ValidationError("--change and --zone exclude each other")
    }
    try scope.check(zone: zone)
    guard device != nil || record != nil || !change.isEmpty else {
      throw ValidationError("name --device, --change, or --zone with --record")
    }
  }

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(
      socket: try options.controlSocket(), wait: ExplainReport.commandWaits)
    if let device, ClientID(text: device) == nil { throw unknown(device) }
    let query = [
      ("last", "\(last)"), ("device", device), ("source", change.first), ("id", change.last),
      ("zone", zone), ("record", record),
    ]
    let report = try await control.get("/explain", query + scope.query, as: ExplainReport.self)
    if let device, report.devices.isEmpty { throw unknown(device) }
    try Renderer(format: json ? .json : .text, console: console).show(report)
    let asksForChange = device == nil || !change.isEmpty
    return report.changes.isEmpty && asksForChange ? .failed : .done
  }

  private func unknown(_ device: String) -> Failure {
    let scope = scope.query.compactMap(\.1).joined(separator: ", ")
    return Failure(unknownDevice: device + (scope.isEmpty ? "" : " in \(scope)"))
  }
}
