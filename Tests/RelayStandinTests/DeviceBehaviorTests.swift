import Foundation
import NIOCore
import NIOHTTP2
import Testing

@testable import RelayStandin

/// The first letters of a device token choose how the stand-in answers. Counts in its settings say
/// which requests get a reset or a GOAWAY, and how many streams a connection may have.
@Suite struct DeviceBehaviorTests {
  @Test(arguments: [
    ("dead00ff", 400, "BadDeviceToken"), ("DEAD00ff", 400, "BadDeviceToken"),
    ("gone-phone", 410, "Unregistered"), ("676f6e6501", 410, "Unregistered"),
    ("busy1", 429, "TooManyRequests"), ("62757379", 429, "TooManyRequests"),
    ("fail1", 500, "InternalServerError"), ("6661696c", 500, "InternalServerError"),
  ])
  func `the first letters of a device token choose the answer`(
    token: String, status: Int, reason: String
  ) async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      let before = Int64(Date().timeIntervalSince1970 * 1_000)
      let answer = try await client.send(
        "POST", "/3/device/\(token)", world.headers(), StandinWorld.background)
      #expect(answer.status == status)
      #expect(answer.reason == reason)
      if status == 410 { #expect(try #require(answer.timestamp) >= before) }
      if status != 410 { #expect(answer.timestamp == nil) }
      try await client.close()
    }
  }

  @Test func `a slow token is answered after three seconds, and a mute token never`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      let start = ContinuousClock.now
      let mute = try await client.start(
        "POST", ["/3/device/6d757465aa"], world.headers(), StandinWorld.background)[0]
      let slow = try await client.send(
        "POST", "/3/device/736c6f77aa", world.headers(), StandinWorld.background)
      #expect(slow.status == 200)
      #expect(ContinuousClock.now - start >= .seconds(StandinSettings.slowSeconds))
      #expect(try world.lines().map(\.status) == [0, 200])
      #expect(try world.lines().map(\.reason) == ["NoAnswer", nil])
      // The mute request got no answer while the connection was open. The request ends only with
      // the connection.
      try await client.close()
      await #expect(throws: StreamEnded()) { try await mute.get() }
    }
  }

  @Test func `the stand-in resets every third request without an answer`() async throws {
    try await StandinWorld.run(resetEvery: 3) { world in
      let client = try await world.connect()
      for turn in 1...6 {
        do {
          let answer = try await client.send(
            "POST", StandinWorld.path, world.headers(), StandinWorld.background)
          #expect(answer.status == 200 && turn % 3 != 0)
        } catch let end as StreamEnded {
          #expect(end.code == .internalError && turn % 3 == 0)
        }
      }
      #expect(try world.lines().map(\.status) == [200, 200, 0, 200, 200, 0])
      try await client.close()
    }
  }

  @Test func `the stand-in answers every third request with a GOAWAY only`() async throws {
    try await StandinWorld.run(goawayEvery: 3) { world in
      for connection in 1...2 {
        let client = try await world.connect()
        for _ in 1...2 {
          let answer = try await client.send(
            "POST", StandinWorld.path, world.headers(), StandinWorld.background)
          #expect(answer.status == 200)
        }
        await #expect(throws: (any Error).self) {
          try await client.send(
            "POST", StandinWorld.path, world.headers(), StandinWorld.background)
        }
        var farewells: [PushClient.GoAway] = []
        for await farewell in client.farewells { farewells.append(farewell) }
        #expect(farewells == [.init(lastStream: 3, data: #"{"reason":"Shutdown"}"#)])
        #expect(try world.lines().count == 2 * connection)
        #expect(try world.lines().last?.connection == connection)
        try await client.close()
      }
    }
  }

  /// Requests taken before the GOAWAY are answered after it, and later ones are dropped.
  @Test func `requests before a GOAWAY are answered, and later requests are dropped`() async throws
  {
    try await StandinWorld.run(goawayEvery: 5) { world in
      let client = try await world.connect()
      let headers = try world.headers()
      let paths = ["/3/device/736c6f77"] + Array(repeating: StandinWorld.path, count: 8)
      let answers = try await client.start("POST", paths, headers, StandinWorld.background)
      var statuses: [Int?] = []
      for answer in answers {
        do { statuses.append(try await answer.get().status) } catch { statuses.append(nil) }
      }
      #expect(statuses.prefix(4) == [200, 200, 200, 200])
      #expect(statuses.dropFirst(4) == [nil, nil, nil, nil, nil])
      var farewells: [PushClient.GoAway] = []
      for await farewell in client.farewells { farewells.append(farewell) }
      #expect(farewells.first?.lastStream == 7)
      #expect(try world.lines().count == 4)
    }
  }

  @Test func `the stand-in announces its stream limit`() async throws {
    try await StandinWorld.run(maxStreams: 7) { world in
      let client = try await world.connect()
      let settings = try await client.settings.get()
      #expect(settings.contains(HTTP2Setting(parameter: .maxConcurrentStreams, value: 7)))
      try await client.close()
    }
  }
}
