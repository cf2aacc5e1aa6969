import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// How long the sample's phone and poster wait after failures.
@Suite struct BackoffTests {
  private func seconds(_ wait: Duration) -> Double { wait / .seconds(1) }

  @Test func `without a word of the server each wait is twice the one before, up to 5 min`() {
    var backoff = Backoff()
    for second in [1.0, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      #expect((second...second * 1.2).contains(seconds(backoff.failed(nil))))
    }
  }

  /// A larger or smaller number than makes sense is a fault of the server or of a proxy.
  @Test(arguments: [
    ("7", 7.0), ("0", 1), ("1", 1), ("300", 300), ("301", 300), ("-5", 1), ("1e400", 1),
    ("soon", 1), ("99999999999999999999", 1),
  ])
  func `a server is asked again after its time, from 1 s to 5 min`(asked: String, wait: Double) {
    var backoff = Backoff()
    let answer = RelayAnswer(status: 503, headers: ["retry-after": asked])
    #expect((wait...wait * 1.2).contains(seconds(backoff.failed(answer))))
  }
}
