import Foundation
import RelayCore
import RelayEngine
import RelayFeedback
import RelayMemory
import RelayMemoryStore
import RelayWire
import Testing

/// No item is missing or out of order, whatever the apps' servers do.
@Suite struct WebhooksTests {
  private let scope = FeedbackWorld.notes

  @Test func `the webhook delivers items in order and each item once`() async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...7)
    try await world.run {
      await world.servers.came(3)
      try await world.fold(8...8)
      await world.servers.came(4)
    }
    let batches = try world.servers.requests().map { try $0.delivery.items.map(\.position) }
    #expect(batches == [[1, 2, 3], [4, 5, 6], [7], [8]])
    let item = try #require(try world.servers.requests().first?.delivery.items.first)
    #expect(item.id == FeedbackWorld.item(1).id.text && item.type == "retired")
    #expect(item.reason == "Unregistered" && item.providerTime == 7 && item.registeredAt == 5)
    #expect(item.tokenDigest == "digest3" && item.clientId.hasSuffix("0001"))
    let delivery = try #require(try world.servers.requests().first?.delivery)
    #expect(delivery.container == scope.container && delivery.environment == "production")
    #expect(delivery.missedThrough == nil && delivery.type == "zonerelay.feedback")
  }

  @Test func `a failed delivery is repeated with the same id and bytes`() async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...5)
    world.servers.behave([.drops, .answers(500), .answers(302), .answers(404), .answers(200)])
    try await world.run { await world.servers.came(6) }
    let requests = world.servers.requests()
    #expect(Set(requests[..<5].map(\.body)).count == 1)
    #expect(Set(requests[..<5].map { $0.header("webhook-id") }).count == 1)
    #expect(try world.servers.taken().map(\.position) == [1, 2, 3, 4, 5])
    #expect(requests[5].header("webhook-id") != requests[0].header("webhook-id"))
  }

  @Test func `a delivery's third failure is reported until a delivery succeeds`() async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...1)
    world.servers.behave(
      [.answers(500), .answers(500), .answers(503), .answers(503)]
        + [.answers(503, retryAfter: .hours(1))])
    try await world.run {
      await world.servers.came(5)
      let reason = try #require(world.reports[scope])
      #expect(reason.contains("status 503") && reason.contains("are tried again"))
      world.webhooks.reconfigure([
        scope: WebhookSettings(
          url: FeedbackWorld.settings().url, keys: FeedbackWorld.settings().keys,
          timeout: .seconds(3))
      ])
      await world.servers.came(6)
      try await world.fold(2...2)
      await world.servers.came(7)
      #expect(world.reports[scope] == nil, "a reload ends the rest, and taken is well")
      let health = try #require(world.webhooks.health.first)
      #expect(health.failed == 5 && health.position >= 1 && health.lastError == nil)
    }
  }

  @Test func `the next life of the relay continues after the last accepted item`() async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...5)
    world.servers.behave([.answers(200), .hangs])
    try await world.run { await world.servers.came(2) }
    let next = try await FeedbackWorld(MemoryStore(world: world.store.world))
    try await next.run { await next.servers.came(1) }
    #expect(try world.servers.taken().map(\.position) == [1, 2, 3])
    #expect(try next.servers.taken().map(\.position) == [4, 5])
    let repeated = try #require(world.servers.requests().last)
    #expect(repeated.body == next.servers.requests().first?.body)
  }

  @Test func `a 410 answer stops the webhook until a reload`() async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...1)
    world.servers.behave([.answers(410)])
    try await world.run {
      await world.servers.came(1)
      while world.webhooks.health.first?.state != .stopped { await Task.yield() }
      try await world.fold(2...2)
      while world.reports[scope] == nil { await Task.yield() }
      #expect(world.reports[scope]?.contains("410") == true)
      #expect(world.servers.requests().count == 1)
      world.webhooks.reconfigure([scope: FeedbackWorld.settings()])
      await world.servers.came(2)
    }
    #expect(try world.servers.taken().map(\.position) == [1, 2])
  }

  /// The server from before the reload answers late with a refusal. The new server gets the
  /// delivery.
  @Test(arguments: [410, 500])
  func `a reload during a delivery makes the relay call the new server`(status: Int) async throws {
    let world = try await FeedbackWorld()
    try await world.fold(1...1)
    let (answers, answer) = AsyncStream<Void>.makeStream()
    world.servers.behave([.waits(answers, then: status)])
    try await world.run {
      await world.servers.came(1)
      let url = "https://new.example.com/\(scope.container)"
      world.webhooks.reconfigure([scope: WebhookSettings(url: url, keys: [FeedbackWorld.key])])
      answer.finish()
      await world.servers.came(2)
      while world.webhooks.health.first?.position != 1 { await Task.yield() }
      #expect(world.servers.requests().last?.url == url)
      #expect(world.webhooks.health.first?.state == .idle)
    }
    #expect(world.reports[scope] == nil)
  }

  @Test func `a server that hangs delays no other server`() async throws {
    let world = try await FeedbackWorld()
    world.servers.behave([.hangs])
    let settings = [scope, FeedbackWorld.other].map { ($0, FeedbackWorld.settings($0)) }
    try await world.run(Dictionary(uniqueKeysWithValues: settings)) {
      try await world.fold(1...1)
      await world.servers.came(1)
      for number in 2...9 as ClosedRange<UInt64> {
        try await world.fold(number...number, of: FeedbackWorld.other)
        await world.servers.came(Int(number) - 1, in: FeedbackWorld.other)
      }
      #expect(world.servers.requests().count == 1)
    }
    #expect(try world.servers.taken(of: FeedbackWorld.other).count == 8)
  }

  @Test func `items of a scope without a webhook stay in the feed`() async throws {
    let world = try await FeedbackWorld()
    try await world.run([:]) {
      try await world.fold(1...2)
      world.webhooks.reconfigure([scope: FeedbackWorld.settings()])
      await world.servers.came(1)
      world.webhooks.reconfigure([:])
      #expect(world.webhooks.health.isEmpty)
    }
    #expect(try world.servers.taken().map(\.position) == [1, 2], "one that comes later too")
  }

  @Test func `a webhook that is removed during a delivery is not reported as failed`() async throws
  {
    let world = try await FeedbackWorld()
    try await world.fold(1...1)
    let (answers, answer) = AsyncStream<Void>.makeStream()
    world.servers.behave([.waits(answers, then: 410)])
    try await world.run {
      await world.servers.came(1)
      world.webhooks.reconfigure([:])
      answer.finish()
    }
    #expect(world.reports[scope] == nil)
  }

  @Test func `a delivery states through which position items were trimmed`() async throws {
    var limits = Limits()
    limits.feedbackItems = 2
    let store = MemoryStore(world: MemoryWorld(limits: limits))
    let world = try await FeedbackWorld(store)
    try await world.fold(1...5)
    try await world.run {
      await world.servers.came(1)
      while world.webhooks.health.first?.position != 5 { await Task.yield() }
      try await world.fold(6...6)
      await world.servers.came(2)
    }
    let deliveries = try world.servers.requests().map { try $0.delivery }
    #expect(deliveries.map(\.missedThrough) == [3, nil])
    #expect(deliveries.map { $0.items.map(\.position) } == [[4, 5], [6]])
  }
}
