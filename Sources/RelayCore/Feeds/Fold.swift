/// Folds deltas into entries. The result of every store must equal that of these pure functions.
package enum Fold {
  /// The entry that results when `delta` is folded into `entry`.
  ///
  /// - Parameters:
  ///   - entry: `nil` if the feed holds no entry of the subject, or only a cleared entry.
  ///   - floor: the feed's floor before this fold.
  /// - Returns: the entry to keep. Folding the same delta into the result changes nothing: a delta
  ///   at or below the entry's position is ignored.
  package static func fold(
    _ entry: Entry?, _ delta: Delta, subject: Subject, floor: Position = .zero
  ) -> Entry {
    if let entry, delta.last.position <= entry.life.position { return entry }
    var next = apply(delta.opening, to: entry, subject: subject)
    if entry == nil, case .notification = next.detail, floor > .zero, next.life.isPresent {
      // Trimming removes present notifications. A reader may have an earlier life of this
      // notification that the feed no longer has, so a later deletion must be shown to every reader
      // with a token.
      (next.life.born, next.life.died) = (.zero, next.life.reborn)
    }
    if let rest = delta.rest { apply(rest, to: &next) }
    return next
  }

  private static func apply(_ mutation: FeedMutation, to entry: Entry?, subject: Subject) -> Entry {
    guard var entry else {
      let start = mutation.verb == .created ? mutation.position : .zero
      let foreign = mutation.device == nil ? mutation.position : Position.zero
      let life = Life(
        position: mutation.position, state: mutation.outcome, born: start, reborn: start,
        device: mutation.device, foreign: foreign, sequence: mutation.sequence, time: mutation.time)
      return Entry(subject: subject, life: life, detail: mutation.detail)
    }
    if mutation.outcome != .present && !entry.life.isPresent { return entry }
    if mutation.outcome == .present && !entry.life.isPresent {
      entry.life.died = entry.life.position
      entry.life.reborn = mutation.position
    }
    entry.life.foreign = foreign(of: mutation, after: entry)
    settle(mutation, in: &entry)
    return entry
  }

  private static func apply(_ rest: Delta.Rest, to entry: inout Entry) {
    if let rebirth = rest.rebirth {
      entry.life.died = rebirth.died ?? entry.life.position
      entry.life.reborn = rebirth.reborn
    }
    entry.life.foreign = rest.foreign ?? foreign(of: rest.last, after: entry)
    settle(rest.last, in: &entry)
  }

  private static func foreign(of mutation: FeedMutation, after entry: Entry) -> Position {
    guard let device = mutation.device else { return mutation.position }
    return device == entry.life.device ? entry.life.foreign : entry.changed
  }

  private static func settle(_ mutation: FeedMutation, in entry: inout Entry) {
    entry.life.position = mutation.position
    entry.life.state = mutation.outcome
    entry.life.device = mutation.device
    entry.life.sequence = mutation.sequence ?? entry.life.sequence
    entry.life.time = mutation.time
    entry.detail = mutation.detail.after(entry.detail)
  }

  /// The entries that `marks` change, as they are after the marks. The caller folds the deltas of
  /// the same cut first. A later change of a subject is another notification, which earlier marks
  /// do not change.
  ///
  /// - Parameter entries: at least those of the feed whose `unread` id is among the marks.
  /// - Returns: the changed entries, each at a position of its own. Entries that are already read,
  ///   superseded or trimmed do not change, so a repeat changes nothing.
  package static func mark(_ entries: [Entry], _ marks: ReadMarks) -> [Entry] {
    let named = Set(marks.notifications)
    return
      entries
      .filter { entry in
        guard let notification = entry.unread else { return false }
        return named.contains(notification) && entry.life.position < marks.position
      }
      .sorted { $0.life.position < $1.life.position }
      .enumerated()
      .map { index, entry in
        let place = Position(marks.position.ordinal, index: index)
        return marked(entry, at: place, by: marks.device)
      }
  }

  private static func marked(
    _ entry: Entry, at place: Position, by device: ClientID?
  ) -> Entry {
    guard case .notification(var detail) = entry.detail else { return entry }
    var next = entry
    detail.read = NotificationDetail.ReadMark(changed: entry.life.position, device: device)
    next.detail = .notification(detail)
    next.life.position = place
    return next
  }
}
