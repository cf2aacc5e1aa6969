import ArgumentParser
import Glibc

struct DoctorCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks at everything a change needs on its way, and says what is wrong.",
    discussion: """
      Looks, in the order of a change's way, at the configuration, files and owners, the clock, \
      limits, the disk, the store, the addresses, the running daemon, the servers that the \
      configuration names and its credentials. Then it lets one change travel: a producer reports \
      it, a device of the doctor's own is told by the courier, fetches and acknowledges. Each line \
      has ✓ (good), ! (look at it) or ✗ (failed), with the cause and the remedy; begin with the \
      first ✗.

      It changes nothing for users and operators: the device belongs to a user of the relay's own, \
      _zonerelay-doctor, counts in no ledger and is removed afterwards. For each APNs route Apple \
      gets one push to an invented device token, with the daemon's own provider token; for each \
      FCM project Google gets one message that it only validates. No webhook gets anything.

      Run it as root or as the daemon's user, with the daemon's configuration; where secrets are \
      systemd credentials, with CREDENTIALS_DIRECTORY as for check. What it has no key for is \
      skipped, and the line names the flag that would give one.

      Examples:
        zonerelay doctor
        zonerelay doctor --offline --config zonerelay.yaml
        zonerelay doctor --json | jq .firstFailure
        zonerelay doctor --user-token doctor.jwt --producer-key records-2.pem

      Exits 0 if nothing has failed, else 1.
      """)

  @Flag(help: "Ask nothing over the network, and no daemon: look at this machine alone.")
  var offline = false

  @Flag(help: "Print JSON, a documented contract: see docs/operations.md.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "A token of the user _zonerelay-doctor, where an account server signs users' tokens.",
      valueName: "file"))
  var userToken: String?

  @Option(
    help: ArgumentHelp(
      "The private key (PEM) of a producer, where producers sign their requests.",
      valueName: "file"))
  var producerKey: String?

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    // A reader such as `head` may close the output early. The doctor must still clean up.
    signal(SIGPIPE, SIG_IGN)
    let given = try GivenKeys(userToken: userToken, producerKey: producerKey)
    let probes = await Probes(options, isOffline: offline, given: given, console)
    var doctor = Doctor(probes: probes, log: FindingLog(console: console, isSilent: json))
    let report = await doctor.run()
    try Renderer(format: json ? .json : .text, console: console).show(report)
    return report.passed ? .done : .failed
  }
}
