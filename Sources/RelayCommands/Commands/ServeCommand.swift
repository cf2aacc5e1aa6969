import ArgumentParser
import Glibc
import UnixSignals

struct ServeCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the daemon in the foreground.",
    discussion: """
      Runs until SIGTERM or SIGINT, then stops taking changes, ends what is in flight and exits 0. \
      Under systemd it says READY once it has recovered, and takes the socket named "api" if it is \
      handed one. SIGHUP reads the configuration anew without dropping a connection: containers, \
      credentials, routes, budgets and the log level; what needs a restart is named in the log.

      Examples:
        zonerelay serve --config /etc/zonerelay/zonerelay.yaml
        ZONERELAY_SERVER_LISTEN=127.0.0.1:9000 zonerelay serve -c zonerelay.yaml

      Exits 0 after a clean stop, 78 if the configuration is bad, 1 for anything else.
      """)

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let options = options
    // A log line must not end the daemon because its reader has gone.
    signal(SIGPIPE, SIG_IGN)
    // Trap SIGHUP first: an untrapped SIGHUP ends the process, and systemd takes this end for a
    // clean stop. A SIGHUP that arrives from now on causes a reload after the start.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let settings = try options.settings()
    try settings.makePlaces()
    try await Daemon.run(settings, rereading: { try options.settings() }, hangups: hangups)
    return .done
  }
}
