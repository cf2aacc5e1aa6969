/// Values from flags and environment variables that replace those of the file. Flags take
/// precedence over variables.
///
/// Only scalars outside `containers` can be overridden: `server.listen` by
/// `ZONERELAY_SERVER_LISTEN`, `budget.background.max` by `ZONERELAY_BUDGET_BACKGROUND_MAX`.
package struct Overrides: Sendable {
  /// The process's whole environment.
  var environment: [String: String] = [:]
  /// Key → the flag's name and value.
  var flags: [String: (flag: String, text: String)] = [:]

  /// The value that overrides a key, and the name of its flag or variable.
  func value(of key: String) -> (name: String, text: String)? {
    if let flag = flags[key] { return (flag.flag, flag.text) }
    let name = Self.variable(key)
    return environment[name].map { (name, $0) }
  }

  /// True if a key of this section is overridden.
  func concern(_ section: String) -> Bool {
    flags.keys.contains { $0.hasPrefix("\(section).") }
      || environment.keys.contains { $0.hasPrefix("\(Self.variable(section))_") }
  }

  /// The directory where systemd puts the unit's credentials.
  var credentialsDirectory: String? { environment["CREDENTIALS_DIRECTORY"] }

  /// The variables that look like overrides (`ZONERELAY_`, a section and a key), sorted. Variables
  /// that Kubernetes sets for a service called zonerelay have the same form and are left out.
  var variables: [String] {
    environment.keys.filter { name in
      name.hasPrefix("ZONERELAY_") && name.split(separator: "_").count > 2
        && !Self.isOfService(name)
        && !flags.keys.contains { Self.variable($0) == name }
    }.sorted()
  }

  static func variable(_ key: String) -> String {
    "ZONERELAY_" + key.replacing(".", with: "_").uppercased()
  }

  /// True if Kubernetes sets this variable for a service called zonerelay, or for a service whose
  /// name begins with zonerelay. No configuration key has the words of these variables.
  private static func isOfService(_ name: String) -> Bool {
    name.contains(/_SERVICE_HOST$|_SERVICE_PORT($|_)|_PORT_[0-9]+_(TCP|UDP|SCTP)($|_)/)
      || name.contains(/^ZONERELAY_PORT($|_)/)
  }
}
