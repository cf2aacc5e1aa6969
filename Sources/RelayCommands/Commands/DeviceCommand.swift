import ArgumentParser
import RelayCore
import RelayWire

struct DeviceCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "Shows registered devices, and forgets them.",
    subcommands: [DeviceListCommand.self, DeviceShowCommand.self, DeviceForgetCommand.self])

  func perform(_ console: Console) async throws -> ExitStatus {
    throw Failure(.usage, "list, show or forget is missing", hint: "see: zonerelay device --help")
  }
}

struct DeviceListCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists registrations, one a line.",
    discussion: """
      Push tokens show only as a short digest.

      Examples:
        zonerelay device list
        zonerelay device list --user _abc --json
      """)

  @Option(help: ArgumentHelp("Only this user's devices.", valueName: "user"))
  var user: String?

  @Flag(help: "Print JSON, a documented contract: see docs/operations.md.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    let query = user.map { [("user", $0)] } ?? []
    let report = try await control.get("/devices", query, as: DevicesReport.self)
    try Self.show(report, by: Renderer(format: json ? .json : .text, console: console))
    return .done
  }
}

extension DeviceListCommand {
  /// Prints the devices, and a message if there are more devices than the report holds.
  static func show(_ report: DevicesReport, by renderer: Renderer) throws {
    try renderer.show(report)
    guard report.moreComing == true else { return }
    renderer.console.talk(line: "more than \(report.devices.count) devices: narrow it with --user")
  }
}

struct DeviceShowCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows everything durable about one installation.",
    discussion: """
      Example:
        zonerelay device show 6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11

      Exits 1 if no device has this id.
      """)

  @Argument(help: ArgumentHelp("The installation's clientId.", valueName: "clientId"))
  var client: String

  @Flag(help: "Print JSON, a documented contract: see docs/operations.md.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    let isID = ClientID(text: client) != nil
    let found =
      isID
      ? try await control.get("/devices", [("client", client)], as: DevicesReport.self).devices : []
    guard !found.isEmpty else {
      throw Failure(
        .failed, "no device has the id \(client)",
        hint: "list the known ones with: zonerelay device list")
    }
    try Renderer(format: json ? .json : .text, console: console)
      .show(DeviceDetails(devices: found))
    return .done
  }
}
