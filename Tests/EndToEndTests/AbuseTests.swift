import Testing

/// A short run of hostile callers beside well-behaved users. `make abuse` runs the same bench for
/// ten minutes a phase on a release build, with strict bounds of time.
@Suite(.serialized) struct AbuseTests {
  /// The bench fails if a well-behaved user is refused, waits too long or loses its connection; if
  /// a caller gets a 5xx other than 503 with `Retry-After`; if a kind of abuse sent nothing; if
  /// memory exceeds 1 GiB; if, after the abuse, the daemon keeps too many files open or its store
  /// goes on growing; or if recovery after a kill is late.
  @Test func `hostile callers do not cause errors for well-behaved users`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let figures = try await Program.bench(
      "abuse", "--quick", "--wide", "--seconds", "5", in: workplace, seconds: 300)
    #expect(figures.count == 22)
  }
}
