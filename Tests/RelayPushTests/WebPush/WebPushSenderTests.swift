import Foundation
import RelayCore
import RelayEngine
import Testing

@testable import RelayPush

@Suite(.serialized, .timeLimit(.minutes(1))) struct WebPushSenderTests {
  @Test func `each kind of subscription gets its verdict`() async throws {
    try await WebPushWorld.run(attemptTimeout: .seconds(2)) { world in
      #expect(await world.send(world.push("one")) == .delivered)
      #expect(await world.send(world.push("two", intent: .alert)) == .delivered)
      #expect(
        await world.send(world.push("dead")) == .gone(at: nil, .init("SubscriptionGone")))
      #expect(
        await world.send(world.push("gone")) == .gone(at: nil, .init("SubscriptionGone")))
      #expect(
        await world.send(world.push("busy"))
          == .later(after: .seconds(7), .device, .init("TooManyRequests")))
      #expect(
        await world.send(world.push("fail"))
          == .later(after: nil, .device, .init("status 500")))
      #expect(
        await world.send(world.push("mute"))
          == .later(after: nil, .device, .init("no answer in time")))
      #expect(world.sender.health.unanswered == 1)
      let lines = try world.lines()
      #expect(lines.map(\.path).prefix(2) == ["/push/one", "/push/two"])
      #expect(lines.map { $0.headers["urgency"] }.prefix(2) == ["normal", "high"])
      #expect(lines[0].headers["topic"]?.utf8.count == 32)
      #expect(Set(lines.map { $0.headers["authorization"] }).count == 1)
      let lives = try #require(lines[0].headers["ttl"].flatMap { Int($0) })
      #expect((3_590...3_600).contains(lives))
    }
  }

  @Test func `the largest payload is delivered, and a larger one is rejected`() async throws {
    try await WebPushWorld.run { world in
      let largest = String(repeating: "x", count: 3_993)
      #expect(await world.send(world.push("one", payload: largest)) == .delivered)
      let verdict = await world.send(world.push("one", payload: largest + "x"))
      #expect(verdict == .rejected(.init("the payload has more than 3993 bytes")))
      let count = try world.lines().count
      #expect(count == 1)
    }
  }

  @Test func `a past deadline gives TTL 0, and a distant one gives the longest TTL`() async throws {
    try await WebPushWorld.run { world in
      #expect(await world.send(world.push("one", lives: .seconds(-5))) == .delivered)
      #expect(await world.send(world.push("two", lives: .days(60))) == .delivered)
      let lives = try world.lines().map { $0.headers["ttl"] }
      #expect(lives == ["0", "2419200"])
    }
  }

  /// The engine has fewer places than there are pushes, and each push gets its verdict.
  @Test func `a thousand concurrent pushes are all delivered`() async throws {
    var limits = WebLimits()
    limits.transfersMax = 50
    try await WebPushWorld.run(attemptTimeout: .seconds(30), limits: limits) { world in
      let verdicts = await withTaskGroup(of: Verdict.self, returning: [Verdict].self) { group in
        for number in 0..<1_000 { group.addTask { await world.send(world.push("d\(number)")) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(verdicts.counted == [.delivered: 1_000])
      let paths = Set(try world.lines().map(\.path))
      #expect(paths.count == 1_000)
    }
  }

  @Test func `a push that waits too long or finds the queue full counts as unsent`() async throws {
    var limits = WebLimits()
    limits.transfersMax = 2
    limits.waitingMax = 4
    try await WebPushWorld.run(attemptTimeout: .seconds(2), limits: limits) { world in
      var all: [Verdict] = []
      for _ in 0..<5 {
        let verdicts = Gathered<Verdict>(count: 6)
        let duration = ContinuousClock().measure {
          for number in 0..<6 {
            world.sender.send(world.push("mute")) { verdicts.put(number, $0) }
          }
        }
        all = await verdicts.all()
        // On a busy machine the third and fourth push may be sent some milliseconds after the first
        // two. Then they may still leave when the first two have ended, so the test begins again.
        // If all six are sent within two milliseconds, the third and fourth push cannot leave: a
        // TLS connection takes longer than that.
        if duration < .milliseconds(2) { break }
      }
      let silence = Verdict.later(after: nil, .device, .init("no answer in time"))
      #expect(all[..<2] == [silence, silence], "these left")
      for verdict in all[2..<4] {
        guard case .later(nil, .unsent, let reason) = verdict else {
          Issue.record("\(verdict) though it never left")
          continue
        }
        // The text ends with "no free place in time", or "no connection in time" if a place came
        // free in the last moment.
        #expect(reason.text.hasPrefix("unreachable: no "))
      }
      let full = Verdict.later(after: nil, .unsent, .init("4 requests wait already"))
      #expect(all[4...] == [full, full])
      #expect(await world.send(world.push("one")) == .delivered)
    }
  }

  /// The engine divides its places by the endpoint's host.
  @Test(arguments: [
    ("https://Push.example.com/a/b", "push.example.com"),
    ("https://push.example.com:8443/a@b", "push.example.com"),
    ("https://user:secret@push.example.com?x", "push.example.com"),
    ("https://[2001:db8::1]:1/", "[2001:db8::1"), ("https://", ""), ("nonsense", ""),
  ])
  func `the endpoint's host identifies a push service`(endpoint: String, host: String) {
    let subscription = WebSubscription(
      endpoint: endpoint, publicKey: Array(repeating: 4, count: 65),
      secret: Array(repeating: 1, count: 16))
    #expect(WebPushRequest.host(of: subscription.token) == host)
    #expect(WebPushRequest.host(of: [1]) == "")
  }

  /// The engine treats names and addresses alike: it checks the address to which the socket
  /// connects.
  @Test(arguments: ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0"])
  func `an endpoint at a private address gets no connection`(host: String) async throws {
    try await WebPushWorld.run(allowPrivateAddresses: false) { world in
      let verdict = await world.send(world.push("one", host: host))
      #expect(verdict == .rejected(.init("the endpoint's address is not a public one")))
      let lines = try world.lines()
      #expect(lines.isEmpty)
    }
  }

  @Test func `without allowPrivateAddresses an http endpoint is rejected`() async throws {
    try await WebPushWorld.run(allowPrivateAddresses: false) { world in
      var push = world.push("one")
      let text = String(decoding: push.address.token, as: UTF8.self)
      #expect(text.contains("https:"))
      let subscription = try #require(WebSubscription(token: push.address.token))
      var plain = subscription
      plain.endpoint = subscription.endpoint.replacing("https:", with: "http:")
      push.address.token = plain.token
      guard case .rejected(let reason) = await world.send(push) else {
        Issue.record("it was not rejected")
        return
      }
      #expect(reason.text.hasPrefix("invalid: "))
    }
  }

  @Test func `a push after the end of the engine gets a verdict`() async throws {
    let world = try await Self.ended()
    let verdict = await world.send(world.push("one"))
    #expect(verdict == .later(after: nil, .recalled, .init("the web engine is stopping")))
  }

  private static func ended() async throws -> WebPushWorld {
    let kept = Kept()
    try await WebPushWorld.run { world in await kept.keep(world) }
    return try #require(await kept.world)
  }

  private actor Kept {
    var world: WebPushWorld?
    func keep(_ world: WebPushWorld) { self.world = world }
  }
}
