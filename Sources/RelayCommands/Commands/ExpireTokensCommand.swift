import ArgumentParser
import Foundation

struct ExpireTokensCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire-tokens",
    abstract: "Makes every change token expire, so that clients read their state anew.",
    discussion: """
      Run it after every restore from a backup: what the store forgot, clients may still believe. \
      Each client is told that its token expired and catches up from where the store stands.

      Examples:
        zonerelay expire-tokens
        zonerelay expire-tokens --container iCloud.com.example.notes \\
          --environment development
        zonerelay expire-tokens --container iCloud.com.example.notes \\
          --environment production --user _abc

      Exits 1, and expires nothing, if the container or environment is not configured.
      """)

  @Option(help: ArgumentHelp("Only this container.", valueName: "id"))
  var container: String?

  @Option(help: ArgumentHelp("Only this environment: development or production."))
  var environment: String?

  @Option(help: ArgumentHelp("Only this user's feeds."))
  var user: String?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws { try ScopeOptions.check(environment: environment) }

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    let body = ["container": container, "environment": environment, "user": user]
      .compactMapValues { $0 }
    try await control.post("/expire-tokens", try JSONEncoder().encode(body))
    console.answer(line: "expired: clients are told at their next request")
    return .done
  }
}
