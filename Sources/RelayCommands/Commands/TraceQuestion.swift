import ArgumentParser
import RelayCore

/// What the questions to the flight recorder have in common.
enum TraceQuestion {
  /// - Throws: a wrong usage. The daemon would refuse such a question, too.
  static func check(zone: String?, environment: String?) throws {
    try EnvironmentName.check(environment)
    if let zone, TraceSearch.Question.Zone(text: zone) == nil {
      throw ValidationError("--zone must be OWNER/NAME, and neither may be empty: \(zone)")
    }
  }

  /// - Throws: a wrong usage: no entry has such a device or route.
  static func check(device: String?, route: String?) throws {
    if let device, ClientID(text: device) == nil {
      throw ValidationError("--device must be a UUID, as device list shows it: \(device)")
    }
    guard let route else { return }
    let transport = String(route.prefix { $0 != "/" })
    let known = Transport.allCases.map(\.name)
    guard known.contains(transport) else {
      throw ValidationError(
        "--route must be TRANSPORT/TOPIC, and the transport one of "
          + "\(known.joined(separator: ", ")): \(route)")
    }
  }
}
