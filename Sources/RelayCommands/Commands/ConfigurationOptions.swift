import ArgumentParser
import Foundation

/// Where the configuration is, and what stands above it.
struct ConfigurationOptions: ParsableArguments, Sendable {
  @Option(
    name: [.customShort("c"), .long],
    help: ArgumentHelp("The configuration file.", valueName: "file"))
  var config = Settings.fileDefault

  @Option(
    help: ArgumentHelp(
      "The daemon's control socket (default: control.socket of the configuration).",
      valueName: "socket"))
  var control: String?

  var overrides: Overrides {
    let flags = control.map { ["control.socket": (flag: "--control", text: absolute($0))] }
    return Overrides(environment: ProcessInfo.processInfo.environment, flags: flags ?? [:])
  }

  /// - Throws: `BadConfiguration`.
  func reading() throws -> SettingsReading {
    let reading = Settings.read(file: config, overrides: overrides)
    if !reading.problems.isEmpty {
      throw BadConfiguration(problems: reading.problems, file: config)
    }
    return reading
  }

  /// - Throws: `BadConfiguration`.
  func settings() throws -> Settings {
    let reading = try reading()
    guard let settings = reading.settings else {
      throw BadConfiguration(problems: reading.problems, file: config)
    }
    return settings
  }

  /// The control socket alone. Whoever looks in need not be able to read the daemon's secrets, so
  /// other problems of the file do not matter here.
  ///
  /// - Throws: `BadConfiguration` if the file says something about the socket that is wrong, or
  ///   cannot be read although it was named.
  func controlSocket() throws -> String {
    if let control { return absolute(control) }
    let isNamed = config != Settings.fileDefault
    if !isNamed, !FileManager.default.fileExists(atPath: config) {
      return overrides.value(of: "control.socket")?.text ?? Settings.Control.socketDefault
    }
    let reading = Settings.read(file: config, overrides: overrides)
    if let socket = reading.controlSocket { return socket }
    throw BadConfiguration(problems: reading.problems, file: config)
  }

  /// A path on the command line starts where the person is, not where the configuration is.
  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}
