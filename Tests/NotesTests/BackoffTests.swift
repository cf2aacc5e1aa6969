import Foundation
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// How long the sample's phone and poster wait after failures.
@Suite struct BackoffTests {
  private func seconds(_ wait: Duration) -> Double { wait / .seconds(1) }

  @Test func `without a word of the server each wait is twice the one before, up to 5 min`() {
    var backoff = Backoff()
    for second in [1.0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      #expect((second...second * 1.2).contains(seconds(backoff.failed())))
    }
  }

  @Test func `the poster waits for 10 s at most, or as long as the relay asks`() throws {
    let relay = RelayAddress(url: FakeServer.url, container: "c", environment: .development)
    let directory = try TestDirectory()
    let store = try NoteStore(directory.file("notes.sqlite"))
    var backoff = OutboxPoster(store: store, relay: relay, key: "k") { _ in }.backoff
    for second in [1.0, 2, 4, 8, 10, 10] {
      #expect((second...second * 1.2).contains(seconds(backoff.failed())))
    }
    #expect(seconds(backoff.failed(asked: 60)) >= 60)
  }

  /// The wait in seconds that a server asks for, and the wait that follows. A number below 1 or
  /// above a day is a fault of the server or of a proxy.
  private static let waits: [(asked: Int, wait: Double)] = [
    (7, 7), (1, 1), (300, 300), (301, 301), (3_600, 3_600), (86_400, 86_400), (0, 1), (-5, 1),
    (86_401, 86_400), (Int.max, 86_400),
  ]

  @Test(arguments: waits)
  func `a server is asked again after its time`(asked: Int, wait: Double) {
    var backoff = Backoff()
    #expect((wait...wait * 1.2).contains(seconds(backoff.failed(asked: asked))))
    // The next failure counts as the second one, whatever wait the server asked for.
    #expect((2...2.4).contains(seconds(backoff.failed())))
  }

  @Test(.timeLimit(.minutes(1)), arguments: ["2", nil])
  func `work is repeated after the wait, with the server's number`(asked: String?) async {
    let answer = RelayAnswer(status: 503, headers: asked.map { ["retry-after": $0] } ?? [:])
    let (failures, failed) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let working = Task {
      await persist({ _ in failed.yield(.now) }) { _ in throw ServerFailure(answer: answer) }
    }
    var times: [ContinuousClock.Instant] = []
    for await time in failures {
      times.append(time)
      if times.count == 2 { break }
    }
    working.cancel()
    await working.value
    #expect(times[1] - times[0] >= .seconds(asked == nil ? 1 : 2))
  }

  @Test func `an answer is told with the server's reason`() {
    let answer = RelayAnswer(status: 413, body: Data("a note has at most 5 bytes".utf8))
    #expect("\(ServerFailure(answer: answer))".hasSuffix("answer 413 a note has at most 5 bytes"))
    #expect("\(ServerFailure(answer: RelayAnswer(status: 0)))" == "no answer")
  }
}
