import ArgumentParser
import Foundation
import RelayCore
import RelayWire

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
    let found =
      ClientID(text: client) == nil
      ? [] : try await control.get("/devices", [("client", client)], as: DevicesReport.self).devices
    guard !found.isEmpty else {
      throw Failure(
        .failed, "no device has the id \(client)",
        hint: "list the known ones with: zonerelay device list")
    }
    try await control.post("/devices/forget", try JSONEncoder().encode(["client": client]))
    console.answer(line: "forgotten: \(client)")
    return .done
  }
}
