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

  func validate() throws {
    // As of a variable that is not set.
    guard config.isEmpty else { return }
    throw ValidationError("--config is empty; write the path of a file")
  }

  var overrides: Overrides {
    let flags = control.map { ["control.socket": (flag: "--control", text: absolute($0))] }
    return Overrides(environment: ProcessInfo.processInfo.environment, flags: flags ?? [:])
  }

  var reading: SettingsReading { Settings.read(file: config, overrides: overrides) }

  /// - Throws: `BadConfiguration`.
  func settings() throws -> Settings {
    let reading = reading
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
    let reading = reading
    if let socket = reading.controlSocket { return socket }
    throw BadConfiguration(problems: reading.problems, file: config)
  }

  /// The store's directory alone, read as `controlSocket` is, and whether there are keys outside
  /// it.
  ///
  /// - Throws: `BadConfiguration` if the file says something about the directory that is wrong, or
  ///   cannot be read although it was named.
  func store() throws -> (directory: String, hasListedKeys: Bool) {
    let isNamed = config != Settings.fileDefault
    if !isNamed, !FileManager.default.fileExists(atPath: config) {
      let directory = overrides.value(of: "store.directory")?.text
      return (directory ?? Settings.Store.directoryDefault, false)
    }
    let reading = reading
    guard let directory = reading.storeDirectory else {
      throw BadConfiguration(problems: reading.problems, file: config)
    }
    let keys = reading.effective.map(\.key) + reading.problems.map(\.key)
    return (directory, keys.contains { $0.hasPrefix("server.tokenKeys[") })
  }

  /// A path on the command line starts where the person is, not where the configuration is.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}
