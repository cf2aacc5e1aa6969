import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct CourierTests {
  /// A rig with a courier device that is subscribed to its private database.
  private static func rig(_ transport: (any RelayTransport)? = nil) async throws -> Rig {
    let rig = try Rig(transport: transport)
    try await rig.client.register(.courier)
    _ = try await rig.client.prepare([.database("all", .private)])
    return rig
  }

  @Test func `the courier brings each wake once`() async throws {
    let rig = try await Self.rig()
    var wakes = rig.client.wakes().makeAsyncIterator()
    for number in 1...3 {
      await rig.relay.save(TestRecord("r\(number)"), in: Rig.notes)
      let wake = try #require(try await wakes.next())
      #expect(wake.number == number)
      #expect(wake.zones.map(\.id) == [Rig.notes])
      try await rig.client.handle(wake)
    }
    #expect(await rig.sink.zones[Rig.notes]?.count == 3)
  }

  @Test func `an address that has lapsed is registered again`() async throws {
    let rig = try await Self.rig()
    var wakes = rig.client.wakes().makeAsyncIterator()
    await rig.relay.fail(.status(410))
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    #expect(try await wakes.next()?.number == 1)
    #expect(await rig.requests(to: "tokens/create") == 2)
  }

  @Test func `an address that has lapsed does not replace a newer one`() async throws {
    let rig = try Rig()
    func address(_ byte: UInt8) -> PushAddress { .apns(Data([byte]), topic: nil, sandbox: true) }
    try await rig.client.register(address(0xaa))
    let gate = Gate()
    await rig.relay.fail { request in
      if request.url.path.hasSuffix("tokens/register") { await gate.pass() }
      return nil
    }
    async let newer: Void = rig.client.register(address(0xbb))
    await gate.untilArrival()
    await rig.relay.fail(.status(410))
    let reading = Task {
      for try await _ in rig.client.wakes() {}
    }
    while await rig.client.waitingCallers < 1 { await Task.yield() }
    await gate.open()
    try await newer
    while await !rig.relay.isConnected(rig.client.installation) { await Task.yield() }
    let registered = await rig.relay.requests.filter { $0.url.path.hasSuffix("tokens/register") }
    let last = try #require(registered.last?.body)
    #expect(String(decoding: last, as: UTF8.self).contains(#""bb""#))
    reading.cancel()
  }

  @Test func `the stream outlasts failures of the network, with pauses`() async throws {
    let rig = try await Self.rig()
    await rig.relay.fail(.unreachable, .unreachable, .status(503, retryAfter: 3), .status(200))
    var wakes = rig.client.wakes().makeAsyncIterator()
    while rig.clock.sleeps.count < 3 { await Task.yield() }
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    #expect(try await wakes.next() != nil)
  }

  @Test func `without a registration the stream ends with an error`() async throws {
    let rig = try Rig()
    var wakes = rig.client.wakes().makeAsyncIterator()
    let error = await #expect(throws: RelayError.self) { _ = try await wakes.next() }
    #expect(error?.message.contains("register") == true)
  }

  @Test func `the stream ends when the user has signed out`() async throws {
    let rig = try await Self.rig()
    var wakes = rig.client.wakes().makeAsyncIterator()
    while await !rig.relay.isConnected(rig.client.installation) { await Task.yield() }
    await rig.account.signIn(nil)
    try await rig.client.signOut()
    await #expect(throws: RelayError.self) { _ = try await wakes.next() }
  }

  @Test func `a second stream takes over from the first`() async throws {
    let rig = try await Self.rig()
    var first = rig.client.wakes().makeAsyncIterator()
    while await !rig.relay.isConnected(rig.client.installation) { await Task.yield() }
    var second = rig.client.wakes().makeAsyncIterator()
    #expect(try await first.next() == nil)
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    #expect(try await second.next()?.number == 1)
  }

  @Test func `a stream without a reader ends`() async throws {
    let rig = try await Self.rig()
    let reading = Task {
      for try await _ in rig.client.wakes() {}
    }
    while await !rig.relay.isConnected(rig.client.installation) { await Task.yield() }
    reading.cancel()
    _ = await reading.result
    while await rig.relay.isConnected(rig.client.installation) { await Task.yield() }
  }

  /// The header `Last-Event-ID` acknowledges only a wake that the app has handled.
  @Test func `a stream of events goes on after the last handled wake`() async throws {
    let streams = EventTransport()
    let rig = try Rig(transport: streams)
    await streams.forward(to: rig.relay)
    try await rig.client.register(.courier)
    var wakes = rig.client.wakes().makeAsyncIterator()
    await streams.send("id: 1\ndata: \(Self.push(1))\n\n", "id: 2\nda")
    await streams.send("ta: \(Self.push(2))\n\n: still here\n\n")
    let first = try #require(try await wakes.next())
    #expect(first.number == 1)
    #expect(try await wakes.next()?.number == 2)
    try await rig.client.handle(first)
    await streams.end()
    await streams.send("data: \(Self.push(3))\n\n")
    #expect(try await wakes.next()?.number == 3)
    #expect(await streams.lastEventIDs == [nil, "1"])
  }

  @Test func `a stream of events does not acknowledge a wake whose round has failed`() async throws
  {
    let streams = EventTransport()
    let rig = try Rig(transport: streams)
    await streams.forward(to: rig.relay)
    try await rig.client.register(.courier)
    try await rig.client.fetchAllChanges()
    var wakes = rig.client.wakes().makeAsyncIterator()
    for (number, time) in zip(1..., [FetchTime.now, .now, .later, .later]) {
      await streams.send("data: \(Self.push(number))\n\n")
      let wake = try #require(try await wakes.next())
      if number.isMultiple(of: 2) {
        try await rig.client.handle(wake, time)
      } else {
        await rig.relay.fail(.unreachable)
        await #expect(throws: RelayError.self) {
          try await rig.client.handle(wake, time)
        }
      }
      await streams.end()
    }
    await streams.send("data: \(Self.push(5))\n\n")
    _ = try await wakes.next()
    #expect(await streams.lastEventIDs == [nil, nil, "2", "2", "4"])
    await rig.account.signIn("_bob")
    await rig.relay.refuseTokens(of: "_alice")
    await #expect(throws: RelayError.self) { try await rig.client.fetchAllChanges() }
    await streams.end()
    await streams.send("data: \(Self.push(6))\n\n")
    _ = try await wakes.next()
    #expect(await streams.lastEventIDs.last == .some(nil), "the number was another user's")
  }

  @Test func `a slow reader gets the newest 64 wakes, and the gap fetches everything`()
    async throws
  {
    let streams = EventTransport()
    let rig = try Rig(transport: streams)
    await streams.forward(to: rig.relay)
    try await rig.client.register(.courier)
    var wakes = rig.client.wakes().makeAsyncIterator()
    for number in 1...70 { await streams.send("data: \(Self.push(number))\n\n") }
    await streams.end()
    while await streams.lastEventIDs.count < 2 { await Task.yield() }
    let first = try #require(try await wakes.next())
    #expect(first.number == 7)
    try await rig.client.fetchAllChanges(.notifications)
    let before = await rig.relay.requests.count
    try await rig.client.handle(first)
    #expect(await rig.relay.requests.count == before + 3)
    for number in 8...70 { #expect(try await wakes.next()?.number == UInt32(number)) }
  }

  private static func push(_ number: Int) -> String {
    #"{"ck":{"ckuserid":"_alice"},"zr":{"w":\#(number),"q":1}}"#
  }

  @Test(arguments: [
    ("data: a\n\n", ["a"]), ("data:a\n\ndata:b\n\n", ["a", "b"]),
    ("data: a\ndata: b\n\n", ["a\nb"]),
    ("data: a\r\n\r\n", ["a"]), ("data: a\r\rdata: b\r\r", ["a", "b"]), (": comment\n\n", []),
    ("id: 1\nevent: x\nretry: 5\n\n", []), ("data\n\n", [""]), ("data: a\n", []),
    ("datax: a\n\n", []), ("data:  a\n\n", [" a"]),
  ])
  func `events are read as the standard says, in any pieces`(text: String, data: [String]) {
    for length in 1...text.utf8.count {
      var events = ServerSentEvents()
      var read: [String] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        read += events.append(rest.prefix(length)).map { String(decoding: $0, as: UTF8.self) }
        rest = rest.dropFirst(length)
      }
      #expect(read == data, "in pieces of \(length)")
    }
  }

  @Test func `an event that is too long is left out`() {
    var events = ServerSentEvents()
    let most = String(repeating: "a", count: ServerSentEvents.bytesMax - 10)
    #expect(events.append("data:\(most)\n\n".utf8).count == 1)
    #expect(events.append("data:\(most)\ndata:\(most)\n\n".utf8).isEmpty)
    #expect(events.append("data:b\n\n".utf8).map { String(decoding: $0, as: UTF8.self) } == ["b"])
  }
}

/// A transport that streams. The test sends the courier's bytes and ends the streams.
private actor EventTransport: StreamingTransport {
  private var relay: InMemoryRelay?
  private var stream: AsyncThrowingStream<[UInt8], any Error>.Continuation?
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private(set) var lastEventIDs: [String?] = []

  func forward(to relay: InMemoryRelay) { self.relay = relay }

  /// Waits until the client has opened a stream, and then sends the pieces.
  func send(_ pieces: String...) async {
    while stream == nil { await withCheckedContinuation { waiting.append($0) } }
    for piece in pieces { stream?.yield(Array(piece.utf8)) }
  }

  func end() {
    stream?.finish()
    stream = nil
  }

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    guard let relay else { throw URLError(.cannotConnectToHost) }
    return try await relay.send(request)
  }

  func open(_ request: RelayRequest) async throws -> StreamedAnswer {
    lastEventIDs.append(request.headers["Last-Event-ID"])
    let (bytes, stream) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    self.stream = stream
    for sender in waiting { sender.resume() }
    waiting = []
    return StreamedAnswer(status: 200, bytes: bytes)
  }
}
