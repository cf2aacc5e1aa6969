import Foundation
import RelayCore
import RelayEngine
import RelayStandin
import Testing

@testable import RelayPush

@Suite(.serialized, .timeLimit(.minutes(1))) struct FCMSenderTests {
  @Test func `each kind of device gets its verdict with one access token`() async throws {
    try await FCMWorld.run(attemptTimeout: .seconds(2)) { world in
      #expect(await world.send(world.push("one")) == .delivered)
      #expect(await world.send(world.push("two", intent: .alert)) == .delivered)
      #expect(
        await world.send(world.push("dead")) == .gone(at: nil, .init("SENDER_ID_MISMATCH")))
      #expect(await world.send(world.push("gone")) == .gone(at: nil, .init("UNREGISTERED")))
      #expect(
        await world.send(world.push("busy"))
          == .later(after: .seconds(7), .pace, .init("QUOTA_EXCEEDED")))
      #expect(
        await world.send(world.push("fail")) == .later(after: nil, .attempt, .init("INTERNAL")))
      let mute = await world.send(world.push("mute"))
      #expect(mute == .later(after: nil, .attempt, .init("timeout: no answer in time")))
      #expect(world.sender.health.unanswered == 1)
      let grants = try world.grants()
      #expect(grants.map(\.status) == [200])
    }
  }

  @Test func `many concurrent pushes wait for one access token`() async throws {
    try await FCMWorld.run { world in
      let verdicts = await withTaskGroup(of: Verdict.self, returning: [Verdict].self) { group in
        for number in 0..<500 { group.addTask { await world.send(world.push("d\(number)")) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(verdicts.counted == [.delivered: 500])
      let grants = try world.grants()
      #expect(grants.count == 1)
    }
  }

  @Test func `the sender replaces a refused access token and sends the push again`() async throws {
    try await FCMWorld.run { world in
      #expect(await world.send(world.push("one")) == .delivered)
      world.standin.forgetTokens()
      let verdicts = await withTaskGroup(of: Verdict.self, returning: [Verdict].self) { group in
        for number in 0..<50 { group.addTask { await world.send(world.push("d\(number)")) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(verdicts.counted == [.delivered: 50])
      let grants = try world.grants()
      #expect(grants.count == 2)
    }
  }

  @Test func `a refused service account stops the route`() async throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-fcm-\(UUID().uuidString)").path()
    defer {
      // A temporary directory that is left behind does no harm.
      try? FileManager.default.removeItem(atPath: directory)
    }
    let other = try await FCMStandin(directory: directory)
    let stopping = Task { try await other.run() }
    let stranger = try FCMWorld.account(in: directory)
    stopping.cancel()
    try await FCMWorld.run(account: stranger) { world in
      let verdict = await world.send(world.push("one"))
      guard case .later(nil, .route, let reason) = verdict else {
        Issue.record("\(verdict)")
        return
      }
      #expect(reason.text.hasPrefix("no access token: "))
    }
  }

  @Test func `a sender with a wrong clock gets no access token`() async throws {
    let clock = TestClock()
    clock.shift(by: .hours(2))
    try await FCMWorld.run(clock: clock) { world in
      let verdict = await world.send(world.push("one"))
      #expect(verdict == .later(after: nil, .route, .init("no access token: invalid_grant")))
    }
  }

  @Test func `a project of another account stops the route`() async throws {
    try await FCMWorld.run(project: "another") { world in
      let verdict = await world.send(world.push("one"))
      #expect(verdict == .later(after: nil, .route, .init("PERMISSION_DENIED")))
    }
  }
}
