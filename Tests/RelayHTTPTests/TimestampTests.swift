import Foundation
import RelayCore
@testable import RelayHTTP
import Testing

@Suite struct TimestampTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2026-11-21T03:00:00Z", 1_795_230_000_000),
      ("2026-11-21t04:00:00.5+01:00", 1_795_230_000_500),
      ("2024-02-29 00:00:00z", 1_709_164_800_000),
      ("2026-11-21T03:00:00.123456789Z", 1_795_230_000_123), ("1969-12-31T23:59:59Z", -1_000),
      ("2016-12-31T23:59:60Z", 1_483_228_799_000), ("2026-11-20T22:30:00-04:30", 1_795_230_000_000),
      ("0001-01-01T00:00:00Z", -62_135_596_800_000),
    ] as [(String, Int64)])
  func `dates of RFC 3339 are read`(text: String, milliseconds: Int64) {
    #expect(Timestamp.instant(text) == Instant(milliseconds: milliseconds))
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T03:00Z", "2026-11-21T03:00:00", "2026-13-01T00:00:00Z",
    "2023-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-10T00:00:00Z", "2026-11-21T24:00:00Z",
    "2026-11-21T03:60:00Z", "2026-11-21T03:00:61Z", "2026-11-21T03:00:00.Z",
    "2026-11-21T03:00:00+1",
    "2026-11-21T03:00:00Zx", " 2026-11-21T03:00:00Z", "20261121T030000Z",
    "2026-11-21T03:00:00+25:00",
  ])
  func `texts that are not dates of RFC 3339 are refused`(text: String) {
    #expect(Timestamp.instant(text) == nil)
  }

  @Test func `dates in answers have the same text as Foundation's dates`() {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    var random = SplitMix64(seed: 9110)
    for _ in 0..<500 {
      let seconds = Int64.random(in: 0..<5_000_000_000, using: &random)
      #expect(
        Timestamp.httpDate(Instant(milliseconds: seconds * 1_000))
          == format.string(from: Date(timeIntervalSince1970: Double(seconds))))
    }
  }
}
