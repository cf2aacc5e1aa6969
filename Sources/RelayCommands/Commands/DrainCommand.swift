import ArgumentParser
import RelayWire

struct DrainCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Stops taking changes and ends what is in flight.",
    discussion: """
      From then on whatever would change the relay's state is answered 503 with Retry-After; \
      devices may still catch up. Waits until all that was taken is in the feeds and no push is \
      under way, and says when it is safe to stop. A drained daemon takes changes again after a \
      restart.

      Example:
        zonerelay drain && systemctl stop zonerelay
      """)

  @Option(help: ArgumentHelp("How long to wait for what is in flight.", valueName: "seconds"))
  var wait = 30

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    try await control.post("/drain")
    console.talk(line: "zonerelay: no more changes are taken")
    let end = ContinuousClock.now + .seconds(wait)
    while true {
      let report = try await control.get("/status", as: StatusReport.self)
      let (facts, pushes) = (report.store.journalTail, report.lanes.inFlight)
      if facts == 0, pushes == 0 {
        console.answer(line: "drained: it is safe to stop")
        return .done
      }
      guard ContinuousClock.now < end else {
        throw Failure(
          .failed, "still under way after \(wait) s: \(facts) facts, \(pushes) pushes",
          hint: "drain again, or stop anyway: what was accepted is durable")
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
