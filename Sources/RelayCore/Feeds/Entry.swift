/// A feed's row: one subject, reduced to what a reader with any token needs.
package struct Entry: Hashable, Sendable {
  package var subject: Subject
  package var life: Life
  package var detail: Detail

  package init(subject: Subject, life: Life, detail: Detail) {
    (self.subject, self.life, self.detail) = (subject, life, detail)
  }
}

extension Entry {
  /// The position of the last change. This is the entry's own position unless a read mark moved the
  /// entry.
  package var changed: Position {
    if case .notification(let detail) = detail, let read = detail.read { return read.changed }
    return life.position
  }

  /// Whether everything new since `token` was made by `client`: the change, or the read mark if
  /// only the mark is new.
  package func isOwn(of client: ClientID?, since token: Position) -> Bool {
    if case .notification(let detail) = detail, detail.isReadMark(since: token) {
      return client != nil && client == detail.read?.device
    }
    return life.isOwn(of: client, since: token)
  }

  /// The id by which a read mark finds the entry; `nil` if no mark changes the entry.
  package var unread: Identifier? {
    guard case .notification(let detail) = detail, !detail.isRead else { return nil }
    return detail.notification
  }
}

/// When a subject was created, deleted and created again, and which device changed it last.
package struct Life: Hashable, Sendable {
  package enum State: UInt8, Hashable, Sendable {
    case present = 1
    case deleted
    /// Zones only: the owner's data was wiped.
    case purged
    /// Zones only: the zone's encrypted data was reset.
    case reset
  }

  /// The position of the last change or read mark. For a deleted subject, this position is also the
  /// end of its last life.
  package var position: Position
  package var state: State
  /// Start of the first known life; zero if the first change received was an update or deletion.
  package var born: Position
  /// End of the life before the last; zero if there was none.
  package var died: Position
  /// Start of the last life.
  package var reborn: Position
  /// The device that made the last change; `nil` means that no device counts as the author.
  package var device: ClientID?
  /// The position of the last change that `device` did not make.
  package var foreign: Position
  /// The producer's number of the last numbered change that was applied.
  package var sequence: Int64?
  /// When the last change happened, for display. For a record this is the modification time that
  /// the producer states, or else the time of acceptance.
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

  /// Whether a reader at `token` is not shown this deletion, because the reader never saw the life
  /// that ended (P3).
  ///
  /// - Parameters:
  ///   - token: where the whole catch-up began; zero if it began without a token.
  ///   - scanHead: the feed's head when the catch-up began. A later deletion is always shown,
  ///     because the client may have the deleted subject from an earlier page or catch-up.
  package func isHidden(from token: Position, scanHead: Position?) -> Bool {
    if isPresent { return false }
    if let scanHead, position > scanHead { return false }
    if token == .zero { return true }
    return token < born || (died <= token && token < reborn)
  }

  /// Whether this deletion is not shown in a reading that `Page.start` began or continued.
  package func isHidden(from start: FeedCursor) -> Bool {
    isHidden(from: start.base, scanHead: start.scanHead)
  }

  /// Whether `client` itself made all changes since `token`. The relay logs such changes, and never
  /// pushes them to `client` (P8).
  package func isOwn(of client: ClientID?, since token: Position) -> Bool {
    guard let client, let device else { return false }
    return client == device && foreign <= token
  }
}

/// What a feed shows of a zone, record or notification in addition to its `Life`.
package enum Detail: Hashable, Sendable {
  /// `author` is the user whose device made the last change. `nil` means that the author is the
  /// zone's owner, or that no device made the change. Pages show only to the author's own clients
  /// which device made the change.
  case record(type: String, tag: String?, author: UserID? = nil)
  case zone
  case notification(NotificationDetail)

  /// Fills in a record's type from `earlier`, if this detail does not state it.
  func after(_ earlier: Detail) -> Detail {
    guard case .record("", let tag, let author) = self, case .record(let known, _, _) = earlier
    else { return self }
    return .record(type: known, tag: tag, author: author)
  }
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
  /// The identity of the last change. This identity and the subscription together identify the
  /// notification.
  package var notification: Identifier
  /// The read mark; `nil` means that the notification is unread.
  package var read: ReadMark?

  package init(
    kind: Kind, database: Database, notification: Identifier, read: ReadMark? = nil
  ) {
    (self.kind, self.database, self.notification, self.read) = (kind, database, notification, read)
  }

  package var isRead: Bool { read != nil }

  /// Whether a reader at `token` has seen the notification, and only its read mark is new.
  package func isReadMark(since token: Position) -> Bool {
    read.map { $0.changed <= token } ?? false
  }

  /// The mark that the notification was read. The mark moves the entry to a position of its own.
  /// The author and the position of the change stay.
  package struct ReadMark: Hashable, Sendable {
    /// The position of the change that was read.
    package var changed: Position
    /// The device that sent the mark.
    package var device: ClientID?

    package init(changed: Position, device: ClientID?) {
      self.changed = changed
      self.device = device
    }
  }

  package enum Reason: UInt8, Hashable, Sendable { case created = 1, updated, deleted }

  /// The reason that a page states for the entry to a reader at `token`. The reason sums up all
  /// changes since `token`, and not only the last change.
  package static func reason(_ life: Life, at token: Position) -> Reason {
    guard life.isPresent else { return .deleted }
    return token < life.reborn ? .created : .updated
  }
}
