/// Values from flags and environment variables that replace those of the file. Flags take
/// precedence over variables.
///
/// Only scalars outside `containers` can be overridden: `server.listen` by
/// `ZONERELAY_SERVER_LISTEN`, `budget.background.max` by `ZONERELAY_BUDGET_BACKGROUND_MAX`.
package struct Overrides: Sendable {
  struct Value {
    var text: String
    /// The variable's or the flag's name.
    var name: String
  }

  private let environment: [String: String]
  private let flags: [String: (flag: String, text: String)]

  /// - Parameters:
  ///   - environment: the process's whole environment.
  ///   - flags: key → the flag's name and value.
  package init(
    environment: [String: String] = [:], flags: [String: (flag: String, text: String)] = [:]
  ) {
    self.environment = environment
    self.flags = flags
  }

  func value(of key: String) -> Value? {
    if let flag = flags[key] { return Value(text: flag.text, name: flag.flag) }
    let name = Self.variable(key)
    return environment[name].map { Value(text: $0, name: name) }
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
  /// name begins with zonerelay. No key contains the words of these variables.
  private static func isOfService(_ name: String) -> Bool {
    name.contains(/_SERVICE_HOST$|_SERVICE_PORT($|_)|_PORT_[0-9]+_(TCP|UDP|SCTP)($|_)/)
      || name.contains(/^ZONERELAY_PORT($|_)/)
  }
}
