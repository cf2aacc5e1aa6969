internal import Foundation
internal import ZoneRelayClient

/// A record as the record server reports it.
public struct TestRecord: Hashable, Sendable {
  public var name: String
  public var type: String
  public var changeTag: String

  public init(_ name: String, type: String = "Note", changeTag: String = "1") {
    (self.name, self.type, self.changeTag) = (name, type, changeTag)
  }
}

/// One change, and who made it.
struct ReportedChange {
  var zone: ZoneID
  /// nil if the change is about the zone itself.
  var record: TestRecord?
  /// `create`, `update` or `delete`.
  var verb: String
  var device: UUID?
}
