import RelayCore
import RelayEngine
import RelayTrace

/// The core with or without the flight recorder, in this process: users with a phone and a database
/// subscription each, whose changes become pushes that are delivered at once.
struct RecorderScene: ~Copyable {
  private static let scope = Scope.measured

  /// How many changes or verdicts a turn handles.
  private let turn: Int
  private var relay: Relay
  private let recorder: FileRecorder?
  private var ordinals: [PartitionID: UInt64] = [:]
  private var now = Instant(milliseconds: 1_800_000_000_000)
  private var next = 0

  init(users: Int, turn: Int, recorder: FileRecorder?) {
    (self.turn, self.recorder) = (turn, recorder)
    var tables: [PartitionID: PartitionTables] = [:]
    for user in 0..<users {
      let id = UserID("_user\(user)")
      let home = PartitionID.home(of: id, in: Self.scope)
      var table = tables[home] ?? PartitionTables(id: home, cursor: Ordinal(UInt64(users)))
      ordinals[home] = UInt64(users)
      table.subscriptions.append(
        SubscriptionRow(
          scope: Self.scope, user: id, serial: Position(Ordinal(UInt64(user + 1))),
          subscription: Subscription(silent: "private", .private, .database(recordType: nil))))
      tables[home] = table
    }
    relay = Relay(
      Array(tables.values), limits: Limits(), policy: WakePolicy(), isTraced: recorder != nil)
    _ = relay.recovered()
    var effects: [Effect] = []
    for user in 0..<users {
      let id = UserID("_user\(user)")
      let address = Address(
        transport: .apns, topic: MeasuredDaemon.topic, token: Array("token-\(user)".utf8),
        environment: .development)
      step(
        .register(
          Registration(
            scope: Self.scope, user: id, client: ClientID(Identifier(high: 1, low: UInt64(user))),
            address: address)), of: id, &effects)
    }
    endTurn(&effects)
    fold(&effects)
  }

  var isRecorded: Bool { recorder != nil }

  private static func change(_ number: Int, of user: UserID) -> Change {
    let record = RecordChange(
      verb: .updated, name: "record-1", type: "Article", tag: "7",
      fields: [Field(name: "title", value: .string("An article of some length"))])
    return Change(
      scope: scope, database: .private, zone: ZoneID(name: "Notes", owner: user),
      event: .record(record), author: Change.Author(user: user, client: nil),
      time: Instant(milliseconds: 0), notification: Identifier(high: 1, low: UInt64(number)),
      fingerprint: UInt64(number))
  }

  private mutating func step(_ fact: Fact, of user: UserID, _ effects: inout [Effect]) {
    let home = PartitionID.home(of: user, in: Self.scope)
    let ordinal = ordinals[home, default: 0] + 1
    ordinals[home] = ordinal
    relay.step(fact, in: home, ordinal: Ordinal(ordinal), at: now, into: &effects)
  }

  private mutating func endTurn(_ effects: inout [Effect]) {
    relay.wake(at: now, into: &effects)
    record()
  }

  private mutating func fold(_ effects: inout [Effect]) {
    relay.folded(relay.cut(at: now), at: now, into: &effects)
    record()
  }

  private mutating func record() {
    let batches = relay.takeTrace()
    if !batches.isEmpty { recorder?.record(batches) }
  }

  /// Makes one change of each of the next users, and delivers the pushes.
  ///
  /// - Returns: the number of pushes.
  mutating func run(_ count: Int) -> Int {
    var effects: [Effect] = []
    for number in next..<next + count {
      let user = UserID("_user\(number)")
      step(.change(Self.change(number + 1, of: user)), of: user, &effects)
      if number % turn == 0 { endTurn(&effects) }
    }
    next += count
    endTurn(&effects)
    fold(&effects)
    now = now + .seconds(1)
    endTurn(&effects)
    var pushes = 0
    while true {
      let attempts = effects.compactMap { if case .push(let attempt) = $0 { attempt } else { nil } }
      effects = []
      if attempts.isEmpty { break }
      pushes += attempts.count
      for (index, attempt) in attempts.enumerated() {
        relay.attemptEnded(attempt, .delivered, at: now, into: &effects)
        if index % turn == 0 { endTurn(&effects) }
      }
      endTurn(&effects)
    }
    fold(&effects)
    return pushes
  }
}
