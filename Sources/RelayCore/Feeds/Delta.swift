/// A bounded summary of all changes to one subject since the last fold. A delta folds to the same
/// entry as the single changes in order (P2).
///
/// Only the effect of the first change depends on what the feed already holds. After the first
/// change the subject's state is known, so the following changes are summed up.
package struct Delta: Hashable, Sendable {
  package private(set) var opening: FeedMutation
  private var tail: Tail

  /// The rest is stored indirectly, so that a delta of only one change is half as large. Most
  /// deltas of a fold hold only one change.
  private enum Tail: Hashable, Sendable {
    case none
    indirect case some(Rest)
  }

  package private(set) var rest: Rest? {
    get { if case .some(let rest) = tail { rest } else { nil } }
    set { tail = newValue.map { .some($0) } ?? .none }
  }

  package init(_ mutation: FeedMutation) {
    opening = mutation
    tail = .none
  }

  /// What all changes to the subject after the first one (`opening`) do together.
  package struct Rest: Hashable, Sendable {
    package var last: FeedMutation
    /// The last new life that began after the opening change.
    package var rebirth: Rebirth?
    /// The position of the last change in this sum that `last.device` did not make; `nil` if
    /// `last.device` made all changes in this sum.
    package var foreign: Position?
  }

  /// One life of the subject ended at `died`, and the next life began at `reborn`. If `died` is
  /// `nil`, the earlier life ended at the position that the entry has after the opening change.
  package struct Rebirth: Hashable, Sendable {
    package var died: Position?
    package var reborn: Position
  }

  /// The last change. A reader sees its details, unless the change had no effect.
  package var last: FeedMutation { rest?.last ?? opening }

  /// Adds a later change. A deletion of a deleted subject changes nothing.
  package mutating func add(_ mutation: FeedMutation) {
    let wasPresent = last.outcome == .present
    if !wasPresent && mutation.outcome != .present { return }
    guard var rest else {
      let rebirth = wasPresent ? nil : Rebirth(died: nil, reborn: mutation.position)
      let foreign = mutation.device == nil ? mutation.position : nil
      self.rest = Rest(last: mutation, rebirth: rebirth, foreign: foreign)
      return
    }
    if !wasPresent {
      rest.rebirth = Rebirth(died: rest.last.position, reborn: mutation.position)
    }
    if mutation.device == nil {
      rest.foreign = mutation.position
    } else if mutation.device != rest.last.device {
      rest.foreign = rest.last.position
    }
    rest.last = mutation.after(rest.last)
    self.rest = rest
  }
}
