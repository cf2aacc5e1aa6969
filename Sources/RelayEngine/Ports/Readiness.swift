package import RelayCore

/// Whether the relay serves requests, or why not. Probes ask often, so to read the readiness costs
/// little: it needs no answer of the loop and computes no figures.
package struct Readiness: Hashable, Sendable {
  package var isReady: Bool
  /// Reasons as sentences for people.
  package var reasons: [String]

  private init(reason: String?) {
    isReady = reason == nil
    reasons = [reason].compactMap(\.self)
  }

  package static let ready = Readiness(reason: nil)
  package static let recovering = Readiness(reason: "recovery is not over yet")
  /// Recovery cannot begin yet.
  ///
  /// - Parameter reason: a sentence with its remedy.
  package static func waiting(_ reason: String) -> Readiness { Readiness(reason: reason) }
  package static let draining = Readiness(
    reason: "it drains: changes and registrations are refused until it is restarted")
  /// The loop has ended, or could not begin.
  package static let stopping = Readiness(reason: "it is stopping")
}

extension Unavailable {
  /// The error for requests while the relay takes none.
  package init(notReady readiness: Readiness) {
    let isEnding = readiness == .draining || readiness == .stopping
    self = isEnding ? .draining : .recovering
  }
}
