/// A feed's row: one subject, compacted to what a reader at any token needs to know.
package struct Entry: Hashable, Sendable {
  package var subject: Subject
  package var life: Life
  package var detail: Detail

  package init(subject: Subject, life: Life, detail: Detail) {
    self.subject = subject
    self.life = life
    self.detail = detail
  }
}

extension Entry {
  /// The place of the last change; its own place unless a read mark moved it.
  package var changed: Position {
    if case .notification(let detail) = detail, let read = detail.read { return read.changed }
    return life.position
  }

  /// What happened since `token` is `client`'s own doing: the change, or the read mark if that is
  /// all that is new.
  package func isOwn(of client: ClientID?, since token: Position) -> Bool {
    if case .notification(let detail) = detail, detail.isReadMark(since: token) {
      return client != nil && client == detail.read?.device
    }
    return life.isOwn(of: client, since: token)
  }
}

/// When a subject came, went and came back, and who touched it last.
package struct Life: Hashable, Sendable {
  package enum State: UInt8, Hashable, Sendable {
    case present = 1
    case deleted
    /// Zones only: its owner's data was wiped.
    case purged
    /// Zones only: its encrypted data was reset.
    case reset
  }

  /// The last change's place; while gone, the end of the last life.
  package var position: Position
  package var state: State
  /// Start of the first life known; zero if the first thing heard was an update or deletion.
  package var born: Position
  /// End of the life before the last; zero if there was none.
  package var died: Position
  /// Start of the last life.
  package var reborn: Position
  /// Who made the last change; nil is nobody's own.
  package var device: ClientID?
  /// The last change that was not by `device`.
  package var foreign: Position
  /// Last `sequence` applied.
  package var sequence: Int64?
  /// When the last change happened, for people to read. Of a record: when it was modified, by its
  /// producer's word, else when the change was accepted.
  package var time: Instant

  package init(
    position: Position, state: State, born: Position = .zero, died: Position = .zero,
    reborn: Position = .zero, device: ClientID? = nil, foreign: Position = .zero,
    sequence: Int64? = nil, time: Instant
  ) {
    self.position = position
    self.state = state
    self.born = born
    self.died = died
    self.reborn = reborn
    self.device = device
    self.foreign = foreign
    self.sequence = sequence
    self.time = time
  }

  package var isPresent: Bool { state == .present }

  /// Whether a reader at `token` is shown nothing: it never knew the life that ended (P3).
  ///
  /// - Parameters:
  ///   - token: where the catch-up began, however many pages ago; zero without a token.
  ///   - scanHead: the feed's head when it began. What went later is always shown: an earlier page
  ///     may have shown it, or a stale life of it may be held still.
  package func isHidden(from token: Position, scanHead: Position?) -> Bool {
    if isPresent { return false }
    if let scanHead, position > scanHead { return false }
    if token == .zero { return true }
    return token < born || (died <= token && token < reborn)
  }

  /// The same for a reading that `Page.start` began or went on with.
  package func isHidden(from start: FeedCursor) -> Bool {
    isHidden(from: start.base, scanHead: start.scanHead)
  }

  /// Made by `device` itself since `token`: logged, never pushed to it (P8).
  package func isOwn(of client: ClientID?, since token: Position) -> Bool {
    guard let client, let device else { return false }
    return client == device && foreign <= token
  }
}

/// What the feeds show beside a life.
package enum Detail: Hashable, Sendable {
  /// `author`: the user whose device made the last change; nil: the zone's owner, or no device. The
  /// device is shown to that user only.
  case record(type: String, tag: String?, author: UserID? = nil)
  case zone
  case notification(NotificationDetail)
}

/// A notification as logged: one subscription × one change.
package struct NotificationDetail: Hashable, Sendable {
  package enum Kind: UInt8, Hashable, Sendable {
    case query = 1
    case zone
    case database
  }

  package var kind: Kind
  package var database: Database
  /// The last change's identity; with the subscription, the notification's.
  package var notification: Identifier
  /// Nil: unread.
  package var read: ReadMark?

  package init(
    kind: Kind, database: Database, notification: Identifier, read: ReadMark? = nil
  ) {
    self.kind = kind
    self.database = database
    self.notification = notification
    self.read = read
  }

  package var isRead: Bool { read != nil }

  /// A reader at `token` has seen the notification itself: what is new is that it was read.
  package func isReadMark(since token: Position) -> Bool {
    read.map { $0.changed <= token } ?? false
  }

  /// That it was read. It moves the entry to a place of its own and says nothing of the change:
  /// whose that was and where it stood remain.
  package struct ReadMark: Hashable, Sendable {
    /// The place of the change that was read.
    package var changed: Position
    /// The device that said so.
    package var device: ClientID?

    package init(changed: Position, device: ClientID?) {
      self.changed = changed
      self.device = device
    }
  }

  package enum Reason: UInt8, Hashable, Sendable { case created = 1, updated, deleted }

  /// Why a reader at `token` is told: what happened since, not what happened last.
  package static func reason(_ life: Life, at token: Position) -> Reason {
    guard life.isPresent else { return .deleted }
    return token < life.reborn ? .created : .updated
  }
}
