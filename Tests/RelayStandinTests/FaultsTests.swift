import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2
import Testing

@testable import RelayStandin

/// Faults that are set on a running stand-in.
@Suite struct FaultsTests {
  @Test(arguments: [
    ("", "none"), ("none", "none"), ("answer 503", "answer ServiceUnavailable"),
    (
      "answer ExpiredToken age=2h topic=a.b tokens=AB retry-after=3",
      "answer ExpiredToken retry-after=3 age=7200000ms topic=a.b tokens=ab"
    ),
    ("slow 2s; silence", "slow 2000ms\nsilence"),
    (
      "reset\nhangup every=3\ngoaway every=5\nstreams 4",
      "reset every=1\nhangup every=3\ngoaway every=5\nstreams 4"
    ),
    ("goaway;blackhole;refuse;handshake 10ms", "handshake 10ms\ngoaway\nblackhole\nrefuse"),
  ])
  func `faults print in a normal form that parses to the same faults`(
    written: String, printed: String
  ) throws {
    let faults = try Faults(written)
    #expect(faults.text == printed)
    #expect(try Faults(printed) == faults)
  }

  @Test(arguments: [
    "fly", "answer", "answer 418", "answer 503 retry-after=soon", "slow", "slow 2", "streams -1",
    "reset every=0", "silence 3", "answer 503 tone=harsh",
  ])
  func `an invalid fault is refused with its first word in the message`(written: String) {
    let error = #expect(throws: StandinError.self) { try Faults(written) }
    #expect(error?.code == .badSetting)
    #expect(error?.message.contains(written.prefix { $0 != " " }) == true)
  }

  @Test func `an answer fault applies only to the tokens and topics that it names`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      func send(_ token: String) async throws -> PushClient.Answer {
        try await client.send(
          "POST", "/3/device/\(token)", world.headers(), StandinWorld.background)
      }
      try await world.standin.set(
        Faults("answer 410 age=1h tokens=aa; answer 503 retry-after=7 topic=com.example.notes"))
      let before = Int64(Date().timeIntervalSince1970 * 1_000) - 3_600_000
      let gone = try await send("aa01")
      #expect(gone.status == 410 && gone.reason == "Unregistered")
      #expect(abs(try #require(gone.timestamp) - before) < 60_000)
      let busy = try await send("bb01")
      #expect(busy.status == 503 && busy.headers.first(name: "retry-after") == "7")
      try await world.standin.set(Faults("answer 503 topic=com.example.other"))
      #expect(try await send("bb01").status == 200)
      try await client.close()
    }
  }

  @Test func `reset and hangup faults end requests, and the log records them`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      try await world.standin.set(Faults("reset"))
      await #expect(throws: StreamEnded(code: .internalError)) {
        try await client.send(
          "POST", StandinWorld.path, world.headers(), StandinWorld.background)
      }
      try await world.standin.set(Faults("hangup"))
      await #expect(throws: (any Error).self) {
        try await client.send(
          "POST", StandinWorld.path, world.headers(), StandinWorld.background)
      }
      try await client.channel.closeFuture.get()
      #expect(try world.lines().map(\.reason) == ["Reset", "HangUp"])
      try await world.standin.set(Faults("refuse"))
      await #expect(throws: (any Error).self) {
        let refused = try await world.connect()
        try await refused.channel.closeFuture.get()
        throw StreamEnded()
      }
      try await world.standin.set(Faults())
      try await Self.works(world)
    }
  }

  /// The stand-in does not process requests that it takes during the silence, but processes later
  /// ones.
  @Test func `a connection works again after a silence fault ends`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      try await Self.works(world, client)
      try await world.standin.set(Faults("silence"))
      let unheard = try await client.start(
        "POST", [StandinWorld.path], world.headers(), StandinWorld.background)[0]
      while try world.lines().count < 2 { await Task.yield() }
      try await world.standin.set(Faults())
      try await Self.works(world, client)
      #expect(try world.lines().map(\.status) == [200, 0, 200])
      try await client.close()
      await #expect(throws: (any Error).self) { try await unheard.get() }
    }
  }

  @Test func `a request sent during a blackhole fault is processed after it ends`()
    async throws
  {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      try await Self.works(world, client)
      try await world.standin.set(Faults("blackhole"))
      let waits = try await client.start(
        "POST", [StandinWorld.path], world.headers(), StandinWorld.background)[0]
      let late = Task { try await world.connect() }
      // If the fault had no effect, the stand-in would read the request during these calls.
      for _ in 0..<200 { try await world.standin.set(Faults("blackhole")) }
      #expect(try world.lines().count == 1)
      try await world.standin.set(Faults())
      #expect(try await waits.get().status == 200)
      try await Self.works(world, try await late.value)
      try await client.close()
    }
  }

  @Test func `a handshake fault delays TLS until its time is over or the fault ends`() async throws
  {
    try await StandinWorld.run { world in
      try await world.standin.set(Faults("handshake 200ms"))
      let start = ContinuousClock.now
      try await Self.works(world)
      #expect(ContinuousClock.now - start >= .milliseconds(200))
      try await world.standin.set(Faults("handshake 1h"))
      async let held: Void = Self.works(world)
      for _ in 0..<200 { try await world.standin.set(Faults("handshake 1h")) }
      try await world.standin.set(Faults())
      try await held
    }
  }

  @Test func `a streams fault lowers the limit of open connections until it ends`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      var limits = client.limits.makeAsyncIterator()
      #expect(await limits.next() == 1_000)
      try await world.standin.set(Faults("streams 3"))
      #expect(await limits.next() == 3)
      try await world.standin.set(Faults("streams 3; slow 1ms"))
      try await world.standin.set(Faults())
      #expect(await limits.next() == 1_000)
      try await Self.works(world, client)
    }
  }

  /// A client resets a stream when its time for an answer is over. During the fault `blackhole` the
  /// stand-in reads nothing; after it, the stand-in reads the request and the reset together.
  @Test func `a request that its client resets does not end the others`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      func start(resets: Bool) async throws -> EventLoopFuture<PushClient.Answer> {
        try await client.start(
          "POST", [StandinWorld.path], world.headers(), StandinWorld.background, resets: resets)[0]
      }
      try await world.standin.set(Faults("blackhole"))
      // The stand-in was already reading when the fault began, so it still reads this request.
      let other = try await start(resets: false)
      for _ in 0..<200 { try await world.standin.set(Faults("blackhole")) }
      let given = try await start(resets: true)
      await #expect(throws: (any Error).self) { try await given.get() }
      try await world.standin.set(Faults())
      #expect(try await other.get().status == 200)
      try await Self.works(world, client)
      try await client.close()
    }
  }

  @Test func `a goaway fault acts at once, and requests already taken are answered`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      try await Self.works(world, client)
      let slow = try await client.start(
        "POST", ["/3/device/736c6f77aa"], world.headers(), StandinWorld.background)[0]
      while try world.lines().count < 2 { await Task.yield() }
      try await world.standin.set(Faults("goaway"))
      #expect(try await slow.get().status == 200)
      var farewells: [PushClient.GoAway] = []
      for await farewell in client.farewells { farewells.append(farewell) }
      #expect(farewells == [.init(lastStream: 3, data: #"{"reason":"Shutdown"}"#)])
      try await Self.works(world)
    }
  }

  private static func works(
    _ world: StandinWorld, _ client: PushClient? = nil
  ) async throws {
    let own: PushClient? = client == nil ? try await world.connect() : nil
    let answer = try await (client ?? own)?.send(
      "POST", StandinWorld.path, world.headers(), StandinWorld.background)
    #expect(answer?.status == 200)
    try await own?.close()
  }
}
