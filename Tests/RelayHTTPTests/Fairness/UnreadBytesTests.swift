import NIOCore
import RelayCore
import Testing

@testable import RelayHTTP

/// Large answers that their callers do not read, over real connections.
@Suite struct UnreadBytesTests {
  private static let path = "/database/1/\(Rig.container)/development/private/subscriptions/list"

  /// Saves subscriptions of about 60 KiB of JSON each: each byte of their texts takes six bytes in
  /// JSON.
  private static func save(_ ids: Range<Int>, in rig: Rig) async throws {
    let text = #"""# + String(repeating: #"\u0001"#, count: 1_024) + #"""#
    let keys = [
      "alertBody", "alertLocalizationKey", "alertActionLocalizationKey", "alertLaunchImage",
      "title", "titleLocalizationKey", "subtitle", "subtitleLocalizationKey", "soundName",
      "category",
    ]
    let info = keys.map { #""\#($0)":\#(text)"# }.joined(separator: ",")
    let operations = ids.map {
      #"{"operationType":"create","subscription":{"subscriptionID":"s\#($0)","#
        + #""subscriptionType":"query","query":{"recordType":"T\#($0)"},"#
        + #""notificationInfo":{\#(info)}}}"#
    }
    let answer = try await rig.database(
      "subscriptions/modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    try #require(answer.status == 200 && !answer.text.contains("serverErrorCode"))
  }

  private static func ask(_ port: Int, _ token: String, room: Int32? = nil) throws -> Socket {
    let socket = try #require(Socket(port: port, room: room))
    socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(Rig.bearer(token))\r\n\r\n")
    return socket
  }

  @Test func `only the client with an unread answer is refused until it disconnects`()
    async throws
  {
    var limits = Rig.atOnce
    limits.answerBytesPerCaller = 1_500_000
    let rig = await Rig(limits: limits)
    try await Self.save(0..<17, in: rig)
    let (token, other) = (try await Rig.token(for: "_abc"), try await Rig.token(for: "_other"))
    let answers = rig.api.answers
    let said = try await rig.served { port, _ in
      var unread: Socket? = try Self.ask(port, token, room: 4_096)
      _ = unread?.hears(withinMilliseconds: 60_000)
      let waiting = answers.bytes
      let told = [
        try Self.ask(port, token).receive(until: "}"),
        try Self.ask(port, other).receive(until: "]}"),
      ]
      Socket.wait { answers.bytes == waiting }
      #expect(answers.bytes == waiting, "the kernel does not take it all")
      unread = nil
      Socket.wait { answers.bytes == 0 }
      let again = try Self.ask(port, token).receive(until: "\r\n\r\n")
      return told + [again, waiting > 1_000_000 ? "waits" : "\(waiting)"]
    }
    #expect(said[0].hasPrefix("HTTP/1.1 429 ") && said[0].contains("Retry-After: 1\r\n"))
    #expect(said[1].hasPrefix("HTTP/1.1 200 "), "\(said[1])")
    #expect(said[2].hasPrefix("HTTP/1.1 200 "), "\(said[2])")
    #expect(said[3] == "waits")
    Socket.wait { answers.bytes == 0 }
    #expect(answers.bytes == 0)
  }

  @Test func `a client that reads gets a large answer whole and frees its bytes`() async throws {
    let rig = await Rig()
    try await Self.save(0..<17, in: rig)
    let token = try await Rig.token(for: "_abc")
    let answers = rig.api.answers
    let text = try await rig.served { port, _ in
      let text = try Self.ask(port, token).receive(until: "}]}")
      return text + (try Self.ask(port, token).receive(until: "}]}"))
    }
    #expect(text.ranges(of: "HTTP/1.1 200 OK").count == 2)
    #expect(text.utf8.count > 2_000_000)
    Socket.wait { answers.bytes == 0 }
    #expect(answers.bytes == 0)
  }

  /// Fixed limit: JSON of a subscriptions/list or subscriptions/lookup
  @Test(arguments: [(offset: -1, count: 2), (0, 2), (1, 3)])
  func `an answer that has reached its size limit takes no more subscriptions`(
    offset: Int, count: Int
  ) async throws {
    let small = await Rig()
    try await Self.save(0..<2, in: small)
    let two = try await small.database("subscriptions/list").text.utf8.count - "]}".utf8.count
    var limits = Rig.atOnce
    limits.subscriptionAnswerBytes = two + offset
    let rig = await Rig(limits: limits)
    try await Self.save(0..<4, in: rig)
    let list = try await rig.database("subscriptions/list")
    let listed = try list.each("subscriptions", "subscriptionID")
    #expect(listed == (0..<count).map { "s\($0)" })
    let marker = try #require(try list.string("continuationMarker"))
    let rest = try await rig.database(
      "subscriptions/list", #"{"continuationMarker":"\#(marker)"}"#)
    #expect(
      try rest.each("subscriptions", "subscriptionID") == (count..<4).map { "s\($0)" })
    // Looks up the same subscription several times.
    let item = #"{"subscriptionID":"s0"}"#
    let found = try await rig.database(
      "subscriptions/lookup", #"{"subscriptions":[\#(item),\#(item),\#(item),\#(item)]}"#)
    let codes = try found.each("subscriptions", "serverErrorCode")
    #expect(codes == (0..<4).map { $0 < count ? nil : "QUOTA_EXCEEDED" })
    #expect(HTTPLimits().subscriptionAnswerBytes == 1 << 20)
  }
}
