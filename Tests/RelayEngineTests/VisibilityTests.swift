import RelayCore
import Testing

@testable import RelayEngine

@Suite struct VisibilityTests {
  private let place = ReadPlace.subscriptions(
    Scope(container: "c", environment: .development), UserID("_a"))
  private let other = ReadPlace.subscriptions(
    Scope(container: "c", environment: .development), UserID("_b"))

  /// What the journal's tail has changed is not known yet: everybody is sent away (P4).
  @Test func nothingIsVisibleBeforeRecoveryIsOver() async {
    let visibility = Visibility(readersMax: 1)
    #expect(await visibility.wait(for: place, onWait: {}) == .recovering)
    visibility.dirtied([place])
    #expect(await visibility.wait(for: place, onWait: {}) == .recovering)
    visibility.begin()
    #expect(await visibility.wait(for: other, onWait: {}) == .visible)
  }

  /// A reader of a place without unfolded changes never waits.
  @Test func cleanPlacesAreVisibleAtOnce() async {
    let visibility = Visibility(readersMax: 1)
    visibility.begin()
    visibility.dirtied([other])
    #expect(await visibility.wait(for: place, onWait: {}) == .visible)
  }

  /// A reader between cut and fold, for a place dirtied after the cut, waits for the next.
  @Test func readersWaitForTheFoldThatHoldsTheirPlace() async {
    let visibility = Visibility(readersMax: 4)
    visibility.begin()
    visibility.dirtied([other])
    visibility.cut()
    visibility.dirtied([place])
    let place = place
    await withTaskGroup(of: Visibility.Seen.self) { group in
      group.addTask {
        // The reader is about to stand in line: the fold under way does not hold its place.
        await visibility.wait(for: place, onWait: { visibility.folded() })
      }
      while !visibility.hasReaders { await Task.yield() }
      visibility.cut()
      visibility.folded()
      #expect(await group.next() == .visible)
    }
  }

  /// At the end nobody waits for ever, and no one begins to.
  @Test func closingAnswersEverybody() async {
    let visibility = Visibility(readersMax: 4)
    visibility.begin()
    visibility.dirtied([place])
    visibility.close()
    #expect(await visibility.wait(for: place, onWait: {}) == .closed)
  }

  /// Readers that wait are bounded, and told.
  @Test func waitingReadersAreBounded() async {
    let visibility = Visibility(readersMax: 0)
    visibility.begin()
    visibility.dirtied([place])
    #expect(await visibility.wait(for: place, onWait: {}) == .full)
  }
}
