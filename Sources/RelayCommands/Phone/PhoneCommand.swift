import ArgumentParser

struct PhoneCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone",
    abstract: "Plays a device on the command line.",
    subcommands: [PhoneRunCommand.self])

  func perform(_ console: Console) async throws -> ExitStatus {
    throw Failure(.usage, "run is missing", hint: "see: zonerelay phone run --help")
  }
}
