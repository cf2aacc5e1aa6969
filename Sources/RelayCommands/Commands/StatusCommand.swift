import ArgumentParser
import RelayWire

struct StatusCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows what the running daemon does.",
    discussion: """
      Health with its reasons, the store, the ledger of deliveries, lanes and routes.

      Examples:
        zonerelay status
        zonerelay status --watch
        zonerelay status --json | jq .ledger

      Exits 0 if healthy, 1 if unhealthy or the ledger does not balance, 3 if no daemon runs.
      """)

  @Flag(help: "Print JSON, a documented contract: see docs/operations.md.")
  var json = false

  @Flag(help: "Show it again every second, until interrupted; with --json one line each time.")
  var watch = false

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    guard watch else {
      return try await show(control, Renderer(format: json ? .json : .text, console: console))
    }
    let renderer = Renderer(format: json ? .jsonLine : .text, console: console)
    repeat {
      // On a terminal each report replaces the report before it.
      if console.isColourful, !json { console.answer("\u{1b}[H\u{1b}[2J") }
      _ = try await show(control, renderer)
      try await Task.sleep(for: .seconds(1))
    } while console.isOpen()
    return .done
  }

  private func show(_ control: ControlLine, _ renderer: Renderer) async throws -> ExitStatus {
    let report = try await control.get("/status", as: StatusReport.self)
    try renderer.show(report)
    return report.healthy && report.ledger.balanced ? .done : .failed
  }
}
