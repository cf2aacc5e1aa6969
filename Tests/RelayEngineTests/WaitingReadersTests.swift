import RelayCore
import Testing

@testable import RelayEngine

extension WaitingReaders {
  /// A wait that begins when the boot clock is at zero.
  fileprivate func wait(
    for places: [ReadTarget], until: Instant, onWait: () -> Void
  ) async -> ReadOutcome {
    await wait(for: places, until: until, at: .zero, onWait: onWait)
  }
}

@Suite(.timeLimit(.minutes(1))) struct WaitingReadersTests {
  private let place = ReadTarget.subscriptions(
    Scope(container: "c", environment: .development), UserID("_a"))
  private let other = ReadTarget.subscriptions(
    Scope(container: "c", environment: .development), UserID("_b"))

  /// Readers may wait for `place`: a cut holds changes of what `place` names, and the cut is not
  /// folded yet.
  private func cut(readersMax: Int) -> WaitingReaders {
    let waitingReaders = WaitingReaders(readersMax: readersMax, waitMax: .days(1))
    waitingReaders.begin()
    waitingReaders.dirtied(place)
    waitingReaders.cut()
    return waitingReaders
  }

  /// It is not known yet what the journal's tail changes, so every reader is refused (P4).
  @Test func `no reader is served before recovery is over`() async {
    let waitingReaders = WaitingReaders(readersMax: 1, waitMax: .days(1))
    #expect(
      await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .refused(.recovering))
    waitingReaders.dirtied(place)
    #expect(
      await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .refused(.recovering))
    waitingReaders.begin()
    #expect(await waitingReaders.wait(for: [other], until: .never, onWait: {}) == .visible)
  }

  /// A reader of a place without unfolded changes never waits.
  @Test func `a place without unfolded changes is visible at once`() async {
    let waitingReaders = WaitingReaders(readersMax: 1, waitMax: .days(1))
    waitingReaders.begin()
    waitingReaders.dirtied(other)
    #expect(await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .visible)
  }

  /// If what a reader reads has changed since the cut, the reader waits for the next fold.
  @Test func `a reader waits for the fold that holds its place`() async {
    let waitingReaders = WaitingReaders(readersMax: 4, waitMax: .days(1))
    waitingReaders.begin()
    waitingReaders.dirtied(other)
    waitingReaders.cut()
    waitingReaders.dirtied(place)
    let place = place
    await withTaskGroup(of: ReadOutcome.self) { group in
      group.addTask {
        // The reader waits, because the fold under way does not contain its place.
        await waitingReaders.wait(for: [place], until: .never, onWait: { waitingReaders.folded() })
      }
      while !waitingReaders.hasReaders { await Task.yield() }
      waitingReaders.cut()
      waitingReaders.folded()
      #expect(await group.next() == .visible)
    }
  }

  /// A reader of several places waits once, for the fold that holds all of them.
  @Test func `a reader of several places waits until all of them are folded`() async {
    let waitingReaders = WaitingReaders(readersMax: 4, waitMax: .days(1))
    waitingReaders.begin()
    waitingReaders.dirtied(other)
    waitingReaders.cut()
    waitingReaders.dirtied(place)
    let places = [other, place]
    await withTaskGroup(of: ReadOutcome.self) { group in
      group.addTask { await waitingReaders.wait(for: places, until: .never, onWait: {}) }
      while !waitingReaders.hasReaders { await Task.yield() }
      waitingReaders.folded()
      #expect(waitingReaders.hasReaders, "the one fold was not enough")
      waitingReaders.cut()
      waitingReaders.folded()
      #expect(await group.next() == .visible)
    }
  }

  /// When the deadline of one reader comes before the fold, only that reader is refused.
  ///
  /// Limit: limits.answerWithin
  @Test func `a reader is refused as late when its deadline comes`() async {
    let waitingReaders = cut(readersMax: 4)
    waitingReaders.dirtied(other)
    let (place, other) = (place, other)
    await withTaskGroup(of: (ReadTarget, ReadOutcome).self) { group in
      for (asked, until) in [(place, Int64(10)), (other, 20)] {
        group.addTask {
          let until = Instant(milliseconds: until)
          return (asked, await waitingReaders.wait(for: [asked], until: until, onWait: {}))
        }
      }
      while waitingReaders.readers < 2 { await Task.yield() }
      waitingReaders.expire(at: Instant(milliseconds: 9))
      #expect(waitingReaders.readers == 2)
      waitingReaders.expire(at: Instant(milliseconds: 10))
      #expect(await group.next() ?? (other, .visible) == (place, .late))
      waitingReaders.folded()
      waitingReaders.cut()
      waitingReaders.expire(at: Instant(milliseconds: 20))
      #expect(await group.next() ?? (place, .visible) == (other, .late))
    }
  }

  /// A request that waits a second time has an earlier deadline than some readers before it.
  @Test func `the earliest deadline is answered first, in any order of arrival`() async {
    let waitingReaders = cut(readersMax: 4)
    let place = place
    await withTaskGroup(of: Int64.self) { group in
      for (readers, until) in [(1, Int64(20)), (2, 10), (3, 30)] {
        group.addTask {
          let until = Instant(milliseconds: until)
          let seen = await waitingReaders.wait(for: [place], until: until, onWait: {})
          return seen == .late ? until.milliseconds : 0
        }
        while waitingReaders.readers < readers { await Task.yield() }
      }
      waitingReaders.expire(at: Instant(milliseconds: 10))
      #expect(waitingReaders.readers == 2)
      for now in [Int64(20), 30] { waitingReaders.expire(at: Instant(milliseconds: now)) }
      #expect(await group.reduce(into: Set()) { $0.insert($1) } == [10, 20, 30])
    }
  }

  /// While folds are refused, readers of what is folded already are served, and other readers are
  /// refused at once (P11).
  @Test func `a refused fold answers its waiting readers at once`() async {
    let waitingReaders = cut(readersMax: 4)
    let place = place
    await withTaskGroup(of: ReadOutcome.self) { group in
      group.addTask { await waitingReaders.wait(for: [place], until: .never, onWait: {}) }
      while !waitingReaders.hasReaders { await Task.yield() }
      waitingReaders.refused(.storeFull)
      #expect(await group.next() == .refused(.storeFull))
    }
    #expect(
      await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .refused(.storeFull))
    #expect(await waitingReaders.wait(for: [other], until: .never, onWait: {}) == .visible)
    waitingReaders.folded()
    #expect(await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .visible)
  }

  /// When the daemon stops, no reader waits for ever, and no reader begins to wait.
  @Test func `after the close a reader is refused at once`() async {
    let waitingReaders = WaitingReaders(readersMax: 4, waitMax: .days(1))
    waitingReaders.begin()
    waitingReaders.dirtied(place)
    waitingReaders.close()
    #expect(await waitingReaders.wait(for: [place], until: .never, onWait: {}) == .closed)
  }

  /// The number of waiting readers is bounded. A reader beyond the bound is refused at once, and
  /// the other readers keep waiting.
  ///
  /// Limit: limits.waitingReaders
  @Test(arguments: [(readers: 2, waiting: 2), (3, 3), (4, 3)])
  func `the number of waiting readers is limited`(readers: Int, waiting: Int) async {
    let waitingReaders = cut(readersMax: 3)
    let place = place
    await withTaskGroup(of: ReadOutcome.self) { group in
      for reader in 1...readers {
        group.addTask { await waitingReaders.wait(for: [place], until: .never, onWait: {}) }
        guard reader <= waiting else {
          #expect(await group.next() == .refused(.readersFull))
          continue
        }
        while waitingReaders.readers < reader { await Task.yield() }
      }
      #expect(waitingReaders.readers == waiting)
      waitingReaders.folded()
      for await seen in group { #expect(seen == .visible) }
    }
  }

  /// Earlier, the bound was checked before the reader was counted, and simultaneous readers
  /// exceeded the bound.
  @Test func `a reader is counted before its fold is requested`() async {
    let waitingReaders = cut(readersMax: 1)
    let place = place
    let seen = await waitingReaders.wait(for: [place], until: .never) {
      #expect(waitingReaders.readers == 1)
      waitingReaders.folded()
    }
    #expect(seen == .visible)
  }

  /// Only the readers of a partition that a cut left out keep waiting.
  @Test func `readers of a partition that a cut leaves out keep waiting`() async {
    let waitingReaders = WaitingReaders(readersMax: 4, waitMax: .days(1))
    waitingReaders.begin()
    let (place, other) = (place, other)
    waitingReaders.dirtied(place)
    waitingReaders.dirtied(other)
    await withTaskGroup(of: String.self) { group in
      group.addTask {
        _ = await waitingReaders.wait(for: [place], until: .never, onWait: {})
        return "left out"
      }
      group.addTask {
        _ = await waitingReaders.wait(for: [other], until: .never, onWait: {})
        return "in the cut"
      }
      while waitingReaders.readers < 2 { await Task.yield() }
      waitingReaders.cut(without: [place.partition])
      waitingReaders.folded()
      #expect(await group.next() == "in the cut")
      #expect(waitingReaders.readers == 1)
      waitingReaders.cut()
      waitingReaders.folded()
      #expect(await group.next() == "left out")
    }
  }
}
