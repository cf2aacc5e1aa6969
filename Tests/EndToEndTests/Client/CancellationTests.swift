import Foundation
import Testing
import ZoneRelayClient
import ZoneRelayTesting

/// Calls that are cancelled while `URLSession` has requests on their way, as apps do all the time.
@Suite(.serialized) struct CancellationTests {
  private static let clients = 10
  private static let calls = 10_000

  @Test func `ten thousand cancelled calls crash nothing and leave no descriptor`() async throws {
    let relay = try await DaemonRelay.start()
    let transport = URLSessionTransport(connectionsPerHost: 2 * Self.clients)
    let zone = ZoneID(name: "Notes", owner: "_abc")
    try await relay.save(TestRecord("a"), in: zone, by: nil)
    var clients: [(client: ZoneRelayClient, copy: InMemoryCopy)] = []
    for _ in 0..<Self.clients {
      let copy = InMemoryCopy()
      let client = try ZoneRelayClient(
        relay.address, state: StateInMemory(), sink: copy, transport: transport,
        credentials: { _ in relay.token(for: "_abc") })
      try await client.register(.courier)
      try await client.fetchAllChanges()
      clients.append((client, copy))
    }
    let before = try Self.openDescriptors()
    let ended = await withTaskGroup(of: Int.self) { group in
      for (client, _) in clients {
        group.addTask { await Self.cancelCalls(Self.calls / Self.clients, of: client) }
      }
      return await group.reduce(0, +)
    }
    #expect(ended == Self.calls)
    try await relay.save(TestRecord("b"), in: zone, by: nil)
    for (client, copy) in clients {
      try await client.fetchAllChanges()
      #expect(await copy.zones == [zone: ["a": "1", "b": "1"]])
    }
    // The number may have grown by connections that are kept for reuse, and by each client's
    // courier poll that has not ended yet.
    let after = try Self.openDescriptors()
    #expect(after - before <= 3 * Self.clients, "\(before) descriptors before, \(after) after")
    await relay.stop()
  }

  /// Starts calls and readers of the courier, and cancels each after a few turns of the scheduler.
  ///
  /// - Returns: how many calls have ended.
  private static func cancelCalls(_ count: Int, of client: ZoneRelayClient) async -> Int {
    var ended = 0
    for number in 1...count {
      let call = Task { try await client.fetchAllChanges() }
      let reader = number.isMultiple(of: 50) ? Task { for try await _ in client.wakes() {} } : nil
      for _ in 0..<Int.random(in: 0...200) { await Task.yield() }
      call.cancel()
      reader?.cancel()
      // A call may have ended before the test cancelled it.
      _ = await call.result
      _ = await reader?.result
      ended += 1
    }
    return ended
  }

  private static func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }
}
