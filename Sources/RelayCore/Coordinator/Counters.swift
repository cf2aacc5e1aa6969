/// The coordinator's counters since the start.
package struct Counters: Sendable {
  /// How changes were answered.
  package struct Changes: Hashable, Sendable {
    package var accepted: Int64 = 0
    package var duplicates: Int64 = 0
    package var rejected: Int64 = 0
    package init() {}
  }

  /// Items for the apps' own servers that became durable, by kind.
  package struct Items: Hashable, Sendable {
    package var retired: Int64 = 0
    package var silent: Int64 = 0
    package var returned: Int64 = 0
    package init() {}
  }

  package internal(set) var changes = Changes()
  /// Facts journalled and not folded; `inCut` counts those of them that are in the cut under way.
  package internal(set) var unfolded = 0
  var inCut = 0
  package internal(set) var lastFold = Instant.zero
  package internal(set) var folds: Int64 = 0
  /// How many entries folds wrote into feeds. A comparison of this number with the number of
  /// changes shows what merging saves.
  package internal(set) var feedRows: Int64 = 0
  /// When operators were last told that a smear exceeds its rate.
  var hurried: Instant?
  /// The message of the store's last refusal; `nil` means that the store works.
  package private(set) var storeTrouble: String?
  /// The time of the store's last refusal.
  private(set) var refusedAt = Instant.zero
  package private(set) var feedback: [Scope: Items] = [:]

  mutating func refused(_ error: StoreError, at now: Instant) {
    (storeTrouble, refusedAt) = (error.message, now)
  }

  mutating func storeWorks() { storeTrouble = nil }

  mutating func count(_ item: Feedback) {
    switch item.news {
    case .retired: feedback[item.device.scope, default: Items()].retired += 1
    case .silent: feedback[item.device.scope, default: Items()].silent += 1
    case .returned: feedback[item.device.scope, default: Items()].returned += 1
    }
  }

  mutating func count(_ answer: Answer) {
    switch answer {
    case .accepted: changes.accepted += 1
    case .duplicate: changes.duplicates += 1
    case .refused(.tooManyParticipants): changes.rejected += 1
    case .refused, .registered, .subscriptions, .done: break
    }
  }
}
