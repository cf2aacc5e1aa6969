import OrderedCollections

/// The changes of each feed since the last cut.
///
/// The first change of a feed after a cut appends an effect, so that the feed's readers wait for
/// the next fold.
struct FeedBuffers: Sendable {
  private var buffers: OrderedDictionary<FeedKey, FeedBuffer> = [:]
  /// An upper bound of the entries that the next cut brings into feeds.
  private(set) var entries = 0
  /// How many of a user's newest notifications are kept.
  private let notificationsMax: Int

  init(limits: Limits) { notificationsMax = limits.notificationsPerUser }

  var isDirty: Bool { !buffers.isEmpty }

  mutating func mutate(
    _ feed: FeedKey, _ subject: Subject, _ mutation: FeedMutation, _ effects: inout [Effect]
  ) {
    let bound = feed.isBounded ? notificationsMax : nil
    // The buffer is changed in place, with one lookup of the feed, because this code runs for every
    // change.
    let (isFirst, added) = buffers.updateValue(forKey: feed, default: FeedBuffer()) { buffer in
      (buffer.isUntouched, buffer.add(mutation, to: subject, bound: bound))
    }
    if isFirst { effects.append(.dirtied(.feed(feed))) }
    entries += added
  }

  mutating func add(_ marks: ReadMarks, to feed: FeedKey, _ effects: inout [Effect]) {
    dirty(feed, &effects)
    buffers[feed, default: FeedBuffer()].marks.add(marks)
  }

  /// How many ids are marked as read and wait for the cut.
  func waitingMarks(in feed: FeedKey) -> Int { buffers[feed]?.marks.count ?? 0 }

  /// Removes everything up to `position` from the feed; older tokens expire.
  mutating func clear(_ feed: FeedKey, at position: Position, _ effects: inout [Effect]) {
    dirty(feed, &effects)
    buffers[feed] = FeedBuffer(cleared: position, floor: position, gap: false)
  }

  mutating func raiseFloor(of feed: FeedKey, to position: Position, _ effects: inout [Effect]) {
    dirty(feed, &effects)
    let before = buffers[feed]?.floor ?? .zero
    buffers[feed, default: FeedBuffer()].floor = max(before, position)
  }

  /// Sets whether the feed's pages state that changes are missing.
  mutating func show(gap: Bool, in feed: FeedKey, _ effects: inout [Effect]) {
    dirty(feed, &effects)
    buffers[feed, default: FeedBuffer()].gap = gap
  }

  private func dirty(_ feed: FeedKey, _ effects: inout [Effect]) {
    if buffers[feed] == nil { effects.append(.dirtied(.feed(feed))) }
  }

  mutating func drain(into cut: inout PartitionCut) {
    cut.feeds = buffers.map { feed, buffer in
      var buffer = buffer
      if feed.isBounded { buffer.trim(to: notificationsMax) }
      return FeedCut(
        feed: feed, cleared: buffer.cleared, floor: buffer.floor, gap: buffer.gap,
        deltas: buffer.deltas.map { SubjectDelta(subject: $0.key, delta: $0.value) },
        marks: buffer.marks.merged, trimmed: buffer.trimmed)
    }
    buffers = [:]
    entries = 0
  }
}
