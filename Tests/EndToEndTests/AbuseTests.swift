import Testing

/// Hostile callers beside well-behaved users, in short: `make abuse` does the same for ten minutes
/// a phase on a release build, with strict bounds of time.
@Suite(.serialized) struct AbuseTests {
  /// The bench fails where a well-behaved user is refused or loses its connection, where a caller
  /// is answered 5xx but for 503 with `Retry-After`, where a kind of abuse sent nothing, where
  /// memory passes 1 GiB, where files or the store do not come to rest, and where a kill is
  /// recovered late.
  @Test func `hostile callers cost well-behaved users nothing but time`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let figures = try await Program.bench(
      "abuse", "--quick", "--wide", "--seconds", "5", in: workplace, seconds: 300)
    #expect(figures.count == 22)
  }
}
