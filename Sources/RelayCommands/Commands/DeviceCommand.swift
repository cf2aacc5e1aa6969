import ArgumentParser
import Foundation
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
    let report = try await control.get("/devices", [("user", user)], as: DevicesReport.self)
    try Self.show(report, by: Renderer(format: json ? .json : .text, console: console))
    return .done
  }

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
    let details = DeviceDetails(devices: try await control.devices(of: client))
    try Renderer(format: json ? .json : .text, console: console).show(details)
    return .done
  }
}

struct DeviceForgetCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Unregisters one installation, as its app would when its user signs out.",
    discussion: """
      What pends for it is withdrawn, and it makes room for another device of its user. The app \
      is not told: at its next start it registers again.

      Example:
        zonerelay device forget 6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11

      Exits 1 if no device has this id.
      """)

  @Argument(help: ArgumentHelp("The installation's clientId.", valueName: "clientId"))
  var client: String

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    _ = try await control.devices(of: client)
    try await control.post("/devices/forget", try JSONEncoder().encode(["client": client]))
    console.answer(line: "forgotten: \(client)")
    return .done
  }
}

extension ControlLine {
  /// The registrations of an installation, at least one.
  ///
  /// - Throws: `Failure` if there is none, or as `get` does.
  func devices(of client: String) async throws -> [DeviceReport] {
    guard ClientID(text: client) != nil else { throw Failure(unknownDevice: client) }
    let found = try await get("/devices", [("client", client)], as: DevicesReport.self).devices
    guard !found.isEmpty else { throw Failure(unknownDevice: client) }
    return found
  }
}

extension Failure {
  init(unknownDevice client: String) {
    self.init(
      .failed, "no device has the id \(client)",
      hint: "list the known ones with: zonerelay device list")
  }
}
