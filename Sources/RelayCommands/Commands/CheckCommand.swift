import ArgumentParser
import RelaySystem

struct CheckCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Validates the configuration and everything it names, and changes nothing.",
    discussion: """
      Reads every key, every file and every credential. If all is well, prints the settings in \
      force with where each comes from; secrets are shown by path and size. If not, reports all \
      problems at once, each with its key, its cause and its remedy. Warns of secrets that every \
      user of the machine may read, and of limits and certificates that will not do.

      Examples:
        zonerelay check --config /etc/zonerelay/zonerelay.yaml
        zonerelay check -c zonerelay.yaml | grep budget

      Exits 0 if the daemon can start with it, 78 if not.
      """)

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let reading = options.reading
    let problems = reading.problems + reading.placeProblems
    guard problems.isEmpty else { throw BadConfiguration(problems: problems, file: options.config) }
    let rows = reading.effective.map { ["\($0.key) = \($0.value)", "# \($0.origin.text)"] }
    for line in TextTable.lines(rows) { console.answer(line: line) }
    if let settings = reading.settings {
      let keys = SecretFiles.keys(ofStore: settings.store.directory)
      let misfits =
        [settings.misfit(files: FileLimit.most)].compactMap(\.self)
        + settings.misfits(certificatesAt: SystemClock().wall())
        + SecretFiles.warnings(of: reading.secretFiles + keys)
      for misfit in misfits { console.talk(line: "zonerelay: warning: \(misfit)") }
    }
    console.talk(line: "zonerelay: \(options.config) is good")
    return .done
  }
}

extension EffectiveValue.Origin {
  /// The source of the value, in a few words.
  var text: String {
    switch self {
    case .standard: "default"
    case .file(let line): line.map { "line \($0)" } ?? "file"
    case .override(let name): name
    }
  }
}
