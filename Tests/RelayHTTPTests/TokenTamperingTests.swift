import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// Tokens with a flipped bit, cut tokens and swapped tokens get exactly the answers of the error
/// table in docs/http.md (P10).
@Suite struct TokenTamperingTests {
  private static let garbled = "Invalid continuation format"
  private static let foreign = "Unknown sync continuation type"

  /// A rig, and a token of each feed of `_abc`. The rig serves both environments of its container,
  /// and a second container.
  private struct Stage {
    static let twin = Scope(container: Rig.container, environment: .production)
    static let neighbour = Scope(container: "iCloud.com.example.other", environment: .development)

    let rig: Rig
    var zone = ""
    var otherZone = ""
    var privately = ""
    var shared = ""
    var notifications = ""

    init() async throws {
      rig = await Rig(others: [Self.twin, Self.neighbour])
      try await rig.create(["A1"])
      try await rig.create(["A1"], zone: "Other")
      zone = try await rig.page().token()
      otherZone = try await rig.page("Other").token()
      privately = try await rig.database("changes/database").string("syncToken") ?? ""
      shared = try await rig.database("changes/database", in: "shared").string("syncToken") ?? ""
      notifications = try await rig.device("notifications/changes").string("syncToken") ?? ""
    }

    /// The reason or code with which each of the three feeds answers `token`; `nil` means that the
    /// answer is a page.
    func zone(_ token: String) async throws -> String? {
      try Self.answer(in: await rig.page("ReadingList", #","syncToken":"\#(token)""#))
    }

    func database(_ token: String, in database: String = "private") async throws -> String? {
      let answer = try await rig.database(
        "changes/database", #"{"syncToken":"\#(token)"}"#, in: database)
      return try Self.answer(of: answer)
    }

    func notifications(_ token: String) async throws -> String? {
      try Self.answer(
        of: await rig.device("notifications/changes", #"{"syncToken":"\#(token)"}"#))
    }

    static func answer(in item: JSONCursor) throws -> String? {
      guard let code = try item.optional("serverErrorCode")?.string() else { return nil }
      return code == "BAD_REQUEST" ? try item.required("reason").string() : code
    }

    static func answer(of whole: Rig.Answer) throws -> String? {
      let said = try answer(in: whole.json)
      let status =
        switch said {
        case nil: 200
        case "CHANGE_TOKEN_EXPIRED": 410
        default: 400
        }
      #expect(whole.status == status)
      return said
    }
  }

  @Test func `a token is accepted at its own feed`() async throws {
    let stage = try await Stage()
    #expect(try await stage.zone(stage.zone) == nil)
    #expect(try await stage.database(stage.privately) == nil)
    #expect(try await stage.database(stage.shared, in: "shared") == nil)
    #expect(try await stage.notifications(stage.notifications) == nil)
  }

  /// A flipped bit in the version or feed kind breaks the form. A flipped bit in the key id gives
  /// an unknown key, which may be a former one, so the token is expired. The signature covers the
  /// rest.
  @Test func `a token with one flipped bit is refused`() async throws {
    let stage = try await Stage()
    let bytes = try #require(Base64.bytes(stage.zone))
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      let expected: [String] =
        switch bit / 8 {
        case 0: [Self.garbled]
        case 1...4: ["CHANGE_TOKEN_EXPIRED"]
        case 5: (1...3).contains(flipped[5]) ? [Self.foreign] : [Self.garbled]
        default: [Self.foreign]
        }
      let said = try await stage.zone(Base64.text(flipped))
      #expect(expected.contains(said ?? "a page"), "bit \(bit): \(said ?? "a page")")
    }
  }

  @Test func `a token that is cut, lengthened or malformed is refused`() async throws {
    let stage = try await Stage()
    let bytes = try #require(Base64.bytes(stage.privately))
    var texts = (1..<bytes.count).map { Base64.text(Array(bytes.prefix($0))) }
    texts += [
      Base64.text(bytes + [0]), Base64.text(bytes + bytes), stage.privately + "=", "x", " ",
      "null", "0", String(stage.privately.dropLast(1)) + "!", "\\u0000", "ä",
    ]
    for text in texts {
      #expect(try await stage.database(text) == Self.garbled, "\(text)")
    }
    #expect(try await stage.database("")?.hasPrefix("syncToken is empty") == true)
  }

  @Test func `a token of another feed is refused`() async throws {
    let stage = try await Stage()
    let all = [stage.zone, stage.otherZone, stage.privately, stage.shared, stage.notifications]
    for token in all {
      #expect(try await stage.zone(token) == (token == stage.zone ? nil : Self.foreign))
      #expect(try await stage.database(token) == (token == stage.privately ? nil : Self.foreign))
      let shared = try await stage.database(token, in: "shared")
      #expect(shared == (token == stage.shared ? nil : Self.foreign))
      let notifications = try await stage.notifications(token)
      #expect(notifications == (token == stage.notifications ? nil : Self.foreign))
    }
  }

  @Test func `a token of another user is refused`() async throws {
    let stage = try await Stage()
    for (endpoint, token) in [
      ("changes/database", stage.privately), ("zones/changes", stage.privately),
    ] {
      let body = #"{"syncToken":"\#(token)","metaSyncToken":"\#(token)"}"#
      let answer = try await stage.rig.database(endpoint, body, as: "_def")
      #expect(try Stage.answer(of: answer) == Self.foreign)
    }
    try await stage.rig.share("g", "granted", with: "_def")
    let page = try await stage.rig.page(
      "ReadingList", #","syncToken":"\#(stage.zone)""#, in: "shared", as: "_def")
    #expect(try Stage.answer(in: page) == Self.foreign)
    let notifications = try await stage.rig.device(
      "notifications/changes", #"{"syncToken":"\#(stage.notifications)"}"#, as: "_def")
    #expect(try Stage.answer(of: notifications) == Self.foreign)
  }

  @Test func `a token of another environment or container is refused`() async throws {
    let stage = try await Stage()
    let user = try await Rig.token(
      for: "_abc", audience: [Rig.container, Stage.neighbour.container])
    for scope in [Stage.twin, Stage.neighbour] {
      for (prefix, endpoint, token) in [
        ("database", "private/changes/database", stage.privately),
        ("device", "notifications/changes", stage.notifications),
      ] {
        let answer = try await stage.rig.send(
          .post, "/\(prefix)/1/\(scope.container)/\(scope.environment.name)/\(endpoint)",
          #"{"syncToken":"\#(token)"}"#, bearer: user)
        #expect(try Stage.answer(of: answer) == Self.foreign)
      }
    }
  }

  /// A flipped bit in a length of the cursor's texts breaks the cursor's form. A flipped bit in the
  /// key id gives an unknown key, which may be a former one, so the cursor is expired. The
  /// signature covers the rest.
  @Test func `a forged or foreign digest cursor is refused`() async throws {
    var limits = Rig.atOnce
    limits.pageEntries = 1
    let rig = await Rig(limits: limits)
    for name in ["Z0", "Z1", "Z2"] { try await rig.create(["A"], zone: name) }
    let token = try await rig.database("changes/database").string("syncToken") ?? ""
    _ = try await rig.send(.post, "/expire-tokens", "{}", control: true)
    let gone = try await rig.database("changes/database", #"{"syncToken":"\#(token)"}"#)
    let digest = try #require(try gone.string("digestToken"))
    let bytes = try #require(Base64.bytes(digest))
    var lengths: Set<Int> = []
    var place = 4
    for _ in 0..<4 {
      lengths.formUnion([place, place + 1])
      place += 2 + (Int(bytes[place]) << 8 | Int(bytes[place + 1]))
    }
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      let body = #"{"digestToken":"\#(Base64.urlText(flipped))"}"#
      let answer = try await rig.database("changes/database", body)
      let expected =
        switch bit / 8 {
        case 0..<4: "CHANGE_TOKEN_EXPIRED"
        case let byte where lengths.contains(byte): Self.garbled
        default: Self.foreign
        }
      #expect(try Stage.answer(of: answer) == expected, "bit \(bit)")
    }
    for (database, user) in [("shared", "_abc"), ("private", "_def")] {
      let body = #"{"digestToken":"\#(digest)"}"#
      let answer = try await rig.database("changes/database", body, in: database, as: user)
      #expect(try Stage.answer(of: answer) == Self.foreign)
    }
    let courier = try await rig.send(.get, "/courier/1/\(digest)")
    #expect(courier.status == 410)
  }
}
