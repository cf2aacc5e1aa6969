@testable import RelayCore
import Testing

/// P2, P3: every history of one record, folded in every way, read from every place.
@Suite struct FeedHistoryTests {
  /// Changes that are combined in memory and folded later give the same entry as changes that are
  /// folded one by one.
  @Test func `deltas fold to the same entry however they are grouped`() {
    for length in 1...4 {
      strings(over: 9, length: length) { word in checkAllSplits(FeedHistory(word)) }
    }
    // Longer histories, of one device only: each sequence of verbs, split in every way.
    for length in 5...7 {
      strings(over: 3, length: length) { word in
        checkAllSplits(FeedHistory(word.map { $0 * 3 }))
      }
    }
  }

  @Test func `long random histories fold to the same entry however they are split`() {
    var draw = SeededRandom(seed: 1)
    for _ in 0..<3_000 { checkAllSplits(FeedHistory(random: &draw, length: 1 + draw.below(8))) }
  }

  private func checkAllSplits(_ history: FeedHistory) {
    let count = history.events.count
    let expected = history.fold(0..<count)
    for mask in 0..<(1 << (count - 1)) {
      var entry: Entry?
      var start = 0
      for end in 1...count where end == count || mask & (1 << (end - 1)) != 0 {
        let delta = history.delta(start..<end)
        entry = Fold.fold(entry, delta, subject: FeedHistory.subject)
        start = end
      }
      if entry != expected {
        Issue.record("\(history.events) split \(mask): \(entry!) not \(expected!)")
        return
      }
    }
  }

  /// The producer's number of a record's last change stays known when a later change has none.
  @Test func `an entry keeps the last sequence number that a change had`() {
    let numbers: [Int64?] = [nil, 7, nil, 9]
    var (entry, known) = (Entry?.none, [Int64?]())
    for (index, number) in numbers.enumerated() {
      let mutation = FeedMutation(
        verb: .updated, position: Sample.position(UInt64(index + 1)), device: nil,
        sequence: number, time: Sample.start, detail: .record(type: "A", tag: nil, author: nil))
      entry = Fold.fold(entry, Delta(mutation), subject: FeedHistory.subject)
      known.append(entry?.life.sequence)
    }
    #expect(known == [nil, 7, 7, 9])
  }

  /// A fold of unknown outcome may be repeated: the repeat changes nothing.
  @Test func `a repeated fold changes nothing`() {
    strings(over: 9, length: 4) { word in
      let history = FeedHistory(word)
      for split in 0..<4 {
        let before = history.fold(0..<split)
        let delta = history.delta(split..<4)
        let once = Fold.fold(before, delta, subject: FeedHistory.subject)
        if Fold.fold(once, delta, subject: FeedHistory.subject) != once {
          Issue.record("\(history.events) at \(split) is not repeatable")
        }
      }
    }
  }

  /// A reader that may hold the record gets the record's deletion. A reader that does not hold the
  /// record gets no deletion, unless the record has had three lives. An entry's `own` mark, and the
  /// reason that a notification gives (created, updated or deleted), describe all changes since the
  /// reader's token.
  @Test func `every reader learns what it needs and no more`() {
    for length in 1...4 {
      strings(over: 9, length: length) { word in checkReaders(FeedHistory(word)) }
    }
    for length in 5...8 {
      strings(over: 3, length: length) { word in
        checkReaders(FeedHistory(word.enumerated().map { $1 * 3 + $0 % 3 }))
      }
    }
  }

  private func checkReaders(_ history: FeedHistory) {
    guard let entry = history.fold(0..<history.events.count) else { return }
    for step in 0...(2 * history.events.count) {
      let token = Sample.position(UInt64(step) * 5)
      let known = history.state(at: token)
      if entry.life.position <= token { continue }
      let isHidden = entry.life.isHidden(from: token, scanHead: nil)
      let isWrong =
        if entry.life.isPresent {
          isHidden
        } else if token == .zero {
          !isHidden
        } else if known == .gone {
          !isHidden && history.lives < 3
        } else {
          isHidden
        }
      if isWrong {
        Issue.record("\(history.events) at \(step): \(known) \(entry.life)")
        return
      }
      checkOwn(history, entry, token)
      let reason = NotificationDetail.reason(entry.life, at: token)
      let expected: NotificationDetail.Reason =
        !entry.life.isPresent
        ? .deleted : lastLifeBegan(history, after: token) ? .created : .updated
      if reason != expected { Issue.record("\(history.events) at \(step): \(reason)") }
    }
  }

  private func checkOwn(_ history: FeedHistory, _ entry: Entry, _ token: Position) {
    for device in FeedHistory.devices.compactMap(\.self)
    where entry.life.isOwn(of: device, since: token) != history.isOwn(of: device, since: token) {
      Issue.record("\(history.events) at \(token): own of \(device.text) is wrong")
    }
  }

  private func lastLifeBegan(_ history: FeedHistory, after token: Position) -> Bool {
    var began = history.events[0].verb == .created ? FeedHistory.position(0) : .zero
    for index in history.events.indices.dropFirst()
    where history.events[index - 1].verb == .deleted && history.events[index].verb != .deleted {
      began = FeedHistory.position(index)
    }
    return token < began
  }
}
