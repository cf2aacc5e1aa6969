import Testing

@testable import RelayCore

/// When the relay is not healthy, and why. `CoordinatorFoldTests` has the issues of the store.
@Suite struct HealthIssueTests {
  private typealias Run = CoordinatorRun

  @Test func `a wall clock that is far ahead is an issue until it is corrected or followed`() {
    let run = Run()
    run.wallAhead = .days(3)
    run.turn(after: 1)
    #expect(run.issues == [.clockAhead(.days(3), believedIn: .hours(1))])
    run.turn(after: 1_800_000)
    #expect(run.issues == [.clockAhead(.days(3), believedIn: .minutes(30))])
    run.turn(after: 1_800_000)
    #expect(run.issues.isEmpty)
  }

  @Test func `a token of a history that the store never had is an issue`() {
    let run = Run()
    let feed = FeedKey(scope: Sample.scope, kind: .database(Sample.owner, .private))
    run.turn(Run.request(1, .lostHistory(feed, since: Sample.position(1))))
    run.settle()
    #expect(run.issues == [.restored])
    run.turn(Run.request(2, .expireTokens(TokenExpiry())))
    run.settle()
    #expect(run.issues.isEmpty)
  }

  @Test func `a stopped route is an issue while it has a sender`() throws {
    let run = try Run.pushing()
    #expect(run.issues.isEmpty)
    let verdict = Verdict.later(after: nil, .route, Verdict.Reason("InvalidProviderToken"))
    run.turn(.verdict(run.pushes[0], verdict))
    #expect(run.issues == [.routeStopped(Run.route, lastError: "InvalidProviderToken")])
    run.turn(
      .reconfigured(Coordinator.Reconfiguration(settings: RelaySettings(), ended: [Run.route])))
    #expect(run.issues.isEmpty)
  }

  @Test func `the third push refused for good is an issue until a push is taken`() throws {
    let run = try Run.pushing()
    let refused = Verdict.rejected(Verdict.Reason("BadTopic"))
    for number in 1...3 {
      #expect(run.issues.isEmpty)
      try #require(run.pushes.count == number)
      run.turn(.verdict(run.pushes[number - 1], refused))
      run.turn(Run.request(UInt64(number) + 10, Run.change(UInt64(number) + 10)))
      run.settle()
      run.turn(after: 3_600_000)
    }
    #expect(run.issues == [.pushesRefused(Run.route, 3, lastError: "BadTopic")])
    try #require(run.pushes.count == 4)
    run.turn(.verdict(run.pushes[3], .delivered))
    #expect(run.issues.isEmpty)
  }
}
