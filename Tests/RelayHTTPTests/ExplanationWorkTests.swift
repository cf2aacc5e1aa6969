@testable import RelayCore
import RelayEngine
import RelayWire
import Testing

@testable import RelayHTTP

/// The explanations of one answer, and their bounds.
@Suite struct ExplanationWorkTests {
  private static let owner = UserID("_abc")
  private static let zone = ZoneID(name: "Notes", owner: owner)
  private static let user = Users.Key(scope: Rig.scope, user: owner)
  private static let devices = (1...3).map {
    DeviceKey(scope: Rig.scope, user: owner, client: ClientID(Identifier(high: 9, low: UInt64($0))))
  }

  /// Two changes, each of which concerns three devices of one user.
  private static func work(steps: Int, lines: Int) -> ExplanationWork {
    var question = TraceSearch.Question()
    (question.zone, question.record) = (.init(name: "Notes", owner: owner), "A")
    var search = TraceSearch(question, known: [])
    var entries: [TraceEntry] = []
    for number: UInt64 in 1...2 {
      let name = Identifier(high: 1, low: number)
      let change = TracedChange(
        notification: name, scope: Rig.scope, database: .private, zone: zone,
        event: .record(RecordChange(verb: .created, name: "A", type: "T")), author: nil,
        place: FactPlace(partition: PartitionID(1), ordinal: Ordinal(number)), isSuperseded: false)
      let match = TracedMatch(
        notification: name, user: user, subscription: SubscriptionID("s"), database: .private,
        zone: zone, position: Position(Ordinal(number)), zonePosition: Position(Ordinal(number)),
        devices: devices.map {
          TracedMatch.Device(client: $0.client, outcome: .pends(.query, gathers: nil))
        })
      entries += [.change(change), .matched(match)].map {
        TraceEntry(at: Instant(milliseconds: 1), $0)
      }
    }
    for entry in entries { search.find(entry) }
    for entry in entries { search.collect(entry) }
    return ExplanationWork(
      search, devices.map { Standing(device: $0, at: Instant(milliseconds: 2)) },
      keys: ToyPushKeys(), bounds: (steps, lines))
  }

  /// How many devices are explained, and how many are left out, for each change.
  private static func counts(
    steps: Int = .max, lines: Int = .max, hasTime: Bool = true
  ) -> [[Int]] {
    var work = work(steps: steps, lines: lines)
    let report = work.report(at: Instant(milliseconds: 3)) { hasTime }
    return report.changes.map { [$0.devices.count, $0.moreDevices] }
  }

  @Test func `every device of every change is explained within the bounds`() {
    #expect(Self.counts() == [[3, 0], [3, 0]])
  }

  /// Fixed limit: looks at entries and deliveries for one answer of explain
  @Test func `the explanation that comes to the bound of looks is the last one`() {
    var one = Self.work(steps: 1, lines: .max)
    _ = one.report(at: .zero) { true }
    let first = one.steps
    #expect(Self.counts(steps: first - 1) == [[0, 3], [1, 2]])
    #expect(Self.counts(steps: first) == [[0, 3], [1, 2]])
    #expect(Self.counts(steps: first + 1) == [[0, 3], [2, 1]])
  }

  /// Fixed limit: deliveries and lines of stories in one answer of explain
  @Test func `the explanation that comes to the bound of lines is the last one`() {
    // Each explanation has a delivery, and the entries of the change and its match.
    #expect(Self.counts(lines: 2) == [[0, 3], [1, 2]])
    #expect(Self.counts(lines: 3) == [[0, 3], [1, 2]])
    #expect(Self.counts(lines: 4) == [[0, 3], [2, 1]])
  }

  @Test func `the newest change is explained for one device in any case`() {
    #expect(Self.counts(hasTime: false) == [[0, 3], [1, 2]])
    #expect(Self.counts(steps: 0, lines: 0) == [[0, 3], [1, 2]])
  }
}

/// Names pushes by their number.
private struct ToyPushKeys: PushKeys {
  func pushID(device: DeviceKey, wake: UInt32) -> Identifier {
    Identifier(high: 0, low: UInt64(wake))
  }

  func collapseID(_ value: String) -> String { value }
}
