@testable import RelayCore
import Testing

@testable import RelayHTTP

/// Which entries an operator follows.
@Suite struct TailFilterTests {
  private static func change(by author: String?) -> TraceEntry {
    let scope = Scope(container: "c", environment: .production)
    let change = TracedChange(
      notification: Identifier(high: 1, low: 1), scope: scope, database: .private,
      zone: ZoneID(name: "Notes", owner: UserID("_owner")),
      event: .record(RecordChange(verb: .created, name: "A", type: "T")),
      author: author.map { Change.Author(user: UserID($0), client: nil) },
      place: FactPlace(partition: PartitionID(1), ordinal: Ordinal(1)), isSuperseded: false)
    return TraceEntry(at: Instant(milliseconds: 1), .change(change))
  }

  /// A change in a user's zone concerns the user, also if another user made it.
  @Test func `a user's entries are those of the user's changes and of the user's zones`() {
    var filter = TailFilter()
    filter.user = "_owner"
    #expect(filter.shows(Self.change(by: "_owner")))
    #expect(filter.shows(Self.change(by: "_guest")))
    #expect(filter.shows(Self.change(by: nil)))
    filter.user = "_guest"
    #expect(filter.shows(Self.change(by: "_guest")))
    #expect(!filter.shows(Self.change(by: "_owner")))
  }

  /// A wake for the notifications feed, or with an alert alone, names no zone.
  @Test(arguments: [[], [TracedPart.query]])
  func `tail shows a wake that names no zone, unless the operator asks for a zone`(
    names: [TracedPart]
  ) {
    let device = DeviceKey(
      scope: Scope(container: "c", environment: .production), user: UserID("_owner"),
      client: ClientID(Identifier(high: 1, low: 1)))
    let wake = TracedWake(
      number: 1, transport: .apns, topic: "t", runsApp: false,
      shows: Identifier(high: 1, low: 1), alertOf: SubscriptionID("s"), names: names,
      tries: 1, cause: .news)
    let entry = TraceEntry(at: Instant(milliseconds: 1), .device(device, .wake(wake)))
    #expect(TailFilter().shows(entry))
    #expect(TailFilter(client: device.client).shows(entry))
    #expect(TailFilter(route: "apns/t").shows(entry) && !TailFilter(route: "fcm").shows(entry))
    #expect(!TailFilter(zone: TraceSearch.Question.Zone(name: "Notes", owner: nil)).shows(entry))
  }
}
