import ZoneRelayClient

/// A bad network: one request of ten never leaves, one answer of twenty is lost, one request of
/// five waits up to two seconds.
struct LossyTransport: RelayTransport {
  struct Cut: Error, CustomStringConvertible {
    let description: String
  }

  let inner: any RelayTransport

  func send(_ request: RelayRequest) async throws -> RelayAnswer {
    let chance = Int.random(in: 0..<100)
    if chance < 10 { throw Cut(description: "cut before the relay, by --lossy") }
    if chance >= 80 { try await Task.sleep(for: .milliseconds(Int.random(in: 0...2_000))) }
    let answer = try await inner.send(request)
    if (10..<15).contains(chance) { throw Cut(description: "the answer was lost, by --lossy") }
    return answer
  }
}
