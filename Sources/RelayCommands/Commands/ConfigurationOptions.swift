import ArgumentParser
import Foundation

/// The options for the configuration file and the values that override it.
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

  var reading: SettingsReading { Settings.read(file: config, overrides: overrides) }

  /// The reading of the configuration; nil if `config` is the default file, and this file is
  /// missing.
  private var readingIfThere: SettingsReading? {
    let isNamed = config != Settings.fileDefault
    return isNamed || FileManager.default.fileExists(atPath: config) ? reading : nil
  }

  /// - Throws: `BadConfiguration`.
  func settings() throws -> Settings {
    let reading = reading
    guard let settings = reading.settings else {
      throw BadConfiguration(problems: reading.problems, file: config)
    }
    return settings
  }

  /// Reads only the path of the control socket. A user who may query the daemon need not be able to
  /// read its secrets, so this call ignores other problems of the file.
  ///
  /// - Throws: `BadConfiguration` if the socket's value is wrong, or if the file cannot be read.
  ///   The default file may be missing.
  func controlSocket() throws -> String {
    if let control { return absolute(control) }
    guard let reading = readingIfThere else {
      return overrides.value(of: "control.socket")?.text ?? Settings.Control.socketDefault
    }
    if let socket = reading.controlSocket { return socket }
    throw BadConfiguration(problems: reading.problems, file: config)
  }

  /// Reads only the path of the store's directory, and whether the file lists token keys, because
  /// their files may be outside the directory. Like `controlSocket`, this call ignores other
  /// problems of the file.
  ///
  /// - Throws: `BadConfiguration` if the directory's value is wrong, or if the file cannot be read.
  ///   The default file may be missing.
  func store() throws -> (directory: String, hasListedKeys: Bool) {
    guard let reading = readingIfThere else {
      let directory = overrides.value(of: "store.directory")?.text
      return (directory ?? Settings.Store.directoryDefault, false)
    }
    guard let directory = reading.storeDirectory else {
      throw BadConfiguration(problems: reading.problems, file: config)
    }
    let keys = reading.effective.map(\.key) + reading.problems.map(\.key)
    return (directory, keys.contains { $0.hasPrefix("server.tokenKeys[") })
  }

  /// Makes a path of the command line absolute. Such a path starts from the working directory, not
  /// from the directory of the configuration file.
  func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}
