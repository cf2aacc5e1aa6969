import Foundation
import GRDB

// docs/outbox.md shows the code between the sample comments below.

// The pages show the lines from here as their sample "poster".
/// Sends what waits in the outbox. Only one poster may run at a time.
struct OutboxPoster {
  struct Answer {
    var status: Int
    var retryAfter: Int?
    var body: Data
  }

  let database: DatabaseQueue
  let send: (Data) async -> Answer?
  private static let source = "/records/1"

  private struct Waiting: Decodable, FetchableRecord {
    var id: Int64
    var event: String
    var type: String
    var data: String
  }

  private struct Outcome: Decodable {
    struct Rejection: Decodable {
      var index: Int
      var reason: String
    }
    var rejected: [Rejection]
  }

  /// Posts what waits, oldest first, and returns when nothing waits.
  func post() async throws {
    var (pause, most) = (1.0, 500)
    while true {
      let rows = try await waiting(most)
      guard !rows.isEmpty else { return }
      let answer = await send(Self.batch(rows))
      // The body may have another form, if a proxy has answered.
      let outcome = answer.flatMap { try? JSONDecoder().decode(Outcome.self, from: $0.body) }
      switch (answer?.status, outcome) {
      case (202, let outcome?), (400, let outcome?):
        let refused = outcome.rejected.map { ($0.index, $0.reason) }
        try await mark(rows, refused: Dictionary(refused) { first, _ in first })
        (pause, most) = (1, 500)
      case (413, _) where rows.count > 1:
        most = rows.count / 2
      case (413, _):
        try await mark(rows, refused: [0: "too large"])
      default:
        print("no success yet: \(answer?.status ?? 0)")
        let wait = answer?.retryAfter.map(Double.init) ?? pause * .random(in: 0.8...1.2)
        try await ContinuousClock().sleep(for: .seconds(wait))
        pause = min(pause * 2, 300)
      }
    }
  }

  private func waiting(_ most: Int) async throws -> [Waiting] {
    try await database.read { db in
      try Waiting.fetchAll(
        db,
        sql: """
          SELECT id, event_id AS event, type, data FROM outbox
          WHERE accepted_at IS NULL AND refusal IS NULL ORDER BY id LIMIT ?
          """, arguments: [most])
    }
  }

  /// The ids and types need no escapes, and `data` is JSON already.
  private static func batch(_ rows: [Waiting]) -> Data {
    let events = rows.map { row in
      #"{"specversion":"1.0","id":"\#(row.event)","source":"\#(source)","type":"\#(row.type)","#
        + #""data":\#(row.data)}"#
    }
    return Data("[\(events.joined(separator: ","))]".utf8)
  }

  /// Marks exactly these rows: the refused ones, by their index, and the others as accepted.
  private func mark(_ rows: [Waiting], refused: [Int: String]) async throws {
    try await database.write { db in
      for (index, row) in rows.enumerated() {
        if let reason = refused[index] {
          try db.execute(
            sql: "UPDATE outbox SET refusal = ? WHERE id = ?", arguments: [reason, row.id])
          print("outbox row \(row.id) is refused: \(reason)")
        } else {
          try db.execute(
            sql: "UPDATE outbox SET accepted_at = datetime('now') WHERE id = ?",
            arguments: [row.id])
        }
      }
    }
  }
}
// The sample ends here.
