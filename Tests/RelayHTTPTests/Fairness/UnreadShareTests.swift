import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// Answers that their clients do not read take memory. So a request counts against its caller's
/// share until its answer is sent, and the number of records in one answer is bounded.
@Suite struct UnreadShareTests {
  /// Takes an answer's body only after the stream `isRead` has ended.
  private struct SlowReader: ResponseBodyWriter {
    let isRead: AsyncStream<Void>
    mutating func write(_ buffer: ByteBuffer) async throws {
      for await _ in isRead {}
    }
    consuming func finish(_ trailers: HTTPFields?) async throws {}
  }

  /// Earlier, a user could have any number of answers waiting to be read.
  @Test func `a request keeps its place until its answer is written`() async throws {
    let fairness = Fairness(Rig.atOnce)
    let caller = CallerID.user(Rig.scope, UserID("_abc"))
    let response = Response.emptyObject.holding(try fairness.begin(for: caller))
    let (isRead, reads) = AsyncStream.makeStream(of: Void.self)
    #expect(fairness.requestsUnderWay == 1)
    let writing = Task { [body = response.body] in
      try await body.write(SlowReader(isRead: isRead))
    }
    #expect(fairness.requestsUnderWay == 1, "the answer is not read yet")
    reads.finish()
    try await writing.value
  }

  @Test func `a request's place is free after its answer is released`() throws {
    let fairness = Fairness(Rig.atOnce)
    let caller = CallerID.producer(Rig.scope, "records-1")
    var response: Response? = Response.emptyObject.holding(try fairness.begin(for: caller))
    #expect(response != nil && fairness.requestsUnderWay == 1)
    response = nil
    #expect(fairness.requestsUnderWay == 0)
  }

  /// Earlier, 200 zones of 200 records each made one answer of nine megabytes.
  ///
  /// Fixed limit: records of all zones together in one changes/zone request
  @Test(arguments: [4, 5, 6])
  func `the number of records in all pages of one request is bounded`(limit: Int) async throws {
    var limits = Rig.atOnce
    limits.entriesPerRequest = limit
    let rig = await Rig(limits: limits)
    for zone in ["A", "B", "C"] { try await rig.create(["1", "2", "3"], zone: zone) }
    let zones = ["A", "B", "C"].map { #"{"zoneID":{"zoneName":"\#($0)"}}"# }
    let answer = try await rig.database(
      "changes/zone", #"{"zones":[\#(zones.joined(separator: ","))]}"#)
    let items = try answer.json.required("zones").elements()
    let counts = try items.map { try $0.required("records").elements().count }
    #expect(counts == [3, min(3, limit - 3), 1])
    let more = try items.map { try $0.required("moreComing").boolean() }
    #expect(more == [false, limit < 6, true], "what is left is fetched with the token")
    #expect(HTTPLimits().entriesPerRequest == 1_000)
  }
}
