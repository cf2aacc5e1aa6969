import ArgumentParser

struct VersionCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Prints the version, as --version does.",
    discussion: """
      Example:
        zonerelay version
      """)

  func perform(_ console: Console) async throws -> ExitStatus {
    console.answer(line: RootCommand.configuration.version)
    return .done
  }
}
