import Foundation
import RelayCore

/// The names of what one run of the doctor makes in the relay. The names of the zone and of the
/// subscription contain the id of the run's own device. So two runs at the same time have nothing
/// in common but their user, and a later run finds what an earlier run has left.
struct WalkNames: Hashable, Sendable {
  /// The device's `clientId`.
  var client = UUID().uuidString.lowercased()

  var user: String { UserID.doctor.name }
  var zone: String { "doctor-\(client)" }
  var subscription: String { "doctor-\(client)" }
  let record = "change"

  static let source = "/zonerelay/doctor"

  /// What an earlier run has left is removed after this time, so that a run under way is not
  /// disturbed. No run takes so long.
  static let leftAfter = Span.minutes(10)
  /// One run removes what at most this many earlier runs have left.
  static let leftMax = 16

  /// The runs of the doctor that have left their device in the relay, oldest first.
  ///
  /// - Parameter list: the answer of `tokens/list`.
  static func left(in list: LooseJSON, at now: Instant) -> [WalkNames] {
    list["devices"].array.filter {
      Instant(milliseconds: Int64($0["registeredAt"].int)) <= now
        + Span(milliseconds: -leftAfter.milliseconds)
    }.sorted { $0["registeredAt"].int < $1["registeredAt"].int }
      .prefix(leftMax).map { WalkNames(client: $0["clientId"].string) }
  }
}
