import Foundation
import Testing

/// `expire-tokens` on the built daemon: it expires the tokens of the named users and of no other
/// users. A reader with an expired database token gets a digest in pages, and continues from the
/// digest's token.
@Suite(.serialized) struct ForcedExpiryTests {
  private static let scope = "\(Workplace.container)/development"
  private static let other = "iCloud.com.example.other"

  /// One user of the daemon.
  private struct Reader {
    let daemon: RunningDaemon
    let user: String

    func ask(_ path: String, _ body: [String: Any]) async throws -> Web.Answer {
      try await daemon.web.post(
        path, body, token: UserJWT.make(user: user, secret: daemon.workplace.userSecret))
    }

    func database(_ body: [String: Any]) async throws -> Web.Answer {
      try await ask("/database/1/\(ForcedExpiryTests.scope)/private/changes/database", body)
    }

    func zone(_ name: String, _ token: String?) async throws -> JSON {
      var wanted: [String: Any] = ["zoneID": ["zoneName": name]]
      if let token { wanted["syncToken"] = token }
      let answer = try await ask(
        "/database/1/\(ForcedExpiryTests.scope)/private/changes/zone", ["zones": [wanted]])
      return answer.json["zones"][0]
    }
  }

  private func expire(_ options: [String], in workplace: Workplace) async throws -> Int32 {
    try await Program.run(
      ["expire-tokens", "--control", workplace.controlSocket] + options, in: workplace
    ).status
  }

  /// Runs `body` with a daemon of two containers, so that a command can name either container and
  /// either environment.
  private func serving(
    _ body: (RunningDaemon, Workplace) async throws -> Void
  ) async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    try workplace.addContainer(Self.other)
    let daemon = try await RunningDaemon.start(in: workplace)
    try await body(daemon, workplace)
    #expect(await daemon.stop().status == 0)
  }

  @Test func `expire-tokens expires the tokens of the named users only`() async throws {
    try await serving { daemon, workplace in
      let readers = ["_abc", "_def"].map { Reader(daemon: daemon, user: $0) }
      var producer = Producer(daemon.web, key: workplace.producerKey)
      let events = readers.map {
        producer.event("created", record: "A1", zone: "One", user: $0.user)
      }
      #expect(try await producer.post(events).status == 202)
      var tokens: [(database: String, zone: String)] = []
      for reader in readers {
        let database = try await reader.database([:]).json["syncToken"].string ?? ""
        tokens.append((database, try await reader.zone("One", nil)["syncToken"].string ?? ""))
      }
      // The options of each command, and for each of the two readers whether its tokens expire.
      let cases: [([String], [Bool])] = [
        (["--container", Self.other], [false, false]),
        (["--environment", "production"], [false, false]),
        (["--user", "_nobody"], [false, false]),
        (["--container", Workplace.container, "--user", "_abc"], [true, false]),
        (["--environment", "development"], [true, true]),
      ]
      for (options, expired) in cases {
        #expect(try await expire(options, in: workplace) == 0)
        for (index, reader) in readers.enumerated() {
          let database = try await reader.database(["syncToken": tokens[index].database])
          #expect(database.status == (expired[index] ? 410 : 200), "\(options) \(reader.user)")
          let zone = try await reader.zone("One", tokens[index].zone)
          #expect(
            zone["serverErrorCode"].string == (expired[index] ? "CHANGE_TOKEN_EXPIRED" : nil),
            "\(options) \(reader.user)")
        }
      }
      let fresh = try await readers[0].zone("One", nil)
      #expect(fresh["records"].array.count == 1)
    }
  }

  /// The command must fail: after a restore, success would look as if the tokens had expired.
  @Test func `expire-tokens refuses a scope that is not configured`() async throws {
    try await serving { daemon, workplace in
      let reader = Reader(daemon: daemon, user: "_abc")
      let token = try #require(try await reader.database([:]).json["syncToken"].string)
      for options in [
        ["--container", "iCloud.com.example.note"],
        ["--container", Self.other, "--environment", "development"],
      ] {
        let ended = try await Program.run(
          ["expire-tokens", "--control", workplace.controlSocket] + options, in: workplace)
        #expect(ended.status == 1)
        #expect(ended.errors.contains("\(Self.other) production"), "\(ended.errors)")
      }
      #expect(try await reader.database(["syncToken": token]).status == 200)
    }
  }

  @Test func `the digest comes in pages and names every zone`() async throws {
    let count = 450
    try await serving { daemon, workplace in
      let reader = Reader(daemon: daemon, user: "_abc")
      var producer = Producer(daemon.web, key: workplace.producerKey)
      let events = (0..<count).map {
        producer.event("created", record: "A1", zone: "Z\($0)", user: reader.user)
      }
      #expect(try await producer.post(events).status == 202)
      let token = try #require(try await reader.database([:]).json["syncToken"].string)
      let held = try #require(try await reader.zone("Z7", nil)["syncToken"].string)
      #expect(try await expire([], in: workplace) == 0)

      var body: [String: Any] = ["syncToken": token]
      var zones: [String: String] = [:]
      var next: Set<String> = []
      var sizes: [Int] = []
      repeat {
        let answer = try await reader.database(body)
        try #require(answer.status == 410)
        #expect(answer.json["serverErrorCode"].string == "CHANGE_TOKEN_EXPIRED")
        next.insert(answer.json["syncToken"].string ?? "")
        sizes.append(answer.json["zones"].array.count)
        for zone in answer.json["zones"].array {
          zones[zone["zoneID"]["zoneName"].string ?? ""] = zone["syncToken"].string
        }
        guard answer.json["moreComing"].bool == true else { break }
        body = ["digestToken": answer.json["digestToken"].string ?? ""]
      } while sizes.count < 10
      #expect(sizes == [200, 200, 50])
      #expect(zones.count == count)
      #expect(next.count == 1)

      // After a forced expiry the zone's token in the digest differs from the one that the reader
      // holds. A fresh read returns the digest's token, and catch-up continues from it.
      #expect(zones["Z7"] != held)
      let fresh = try await reader.zone("Z7", nil)
      #expect(fresh["syncToken"].string == zones["Z7"])
      #expect(try await reader.zone("Z7", zones["Z7"])["records"].array.isEmpty)
      let on = try await reader.database(["syncToken": next.first ?? ""])
      #expect(on.status == 200)
      #expect(on.json["zones"].array.isEmpty)
    }
  }
}
