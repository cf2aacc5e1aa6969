/// One change to one subject, before the feed's own entry for the subject is read.
package struct FeedMutation: Hashable, Sendable {
  package enum Verb: UInt8, Hashable, Sendable { case created = 1, updated, deleted, purged, reset }

  package var verb: Verb
  package var position: Position
  package var device: ClientID?
  package var sequence: Int64?
  package var time: Instant
  package var detail: Detail

  /// The subject's state after this change.
  package var outcome: Life.State {
    switch verb {
    case .created, .updated: .present
    case .deleted: .deleted
    case .purged: .purged
    case .reset: .reset
    }
  }

  /// Fills in from `earlier` what this change does not state: a record's type, and the last
  /// `sequence` applied.
  func after(_ earlier: FeedMutation) -> FeedMutation {
    var mutation = self
    mutation.sequence = sequence ?? earlier.sequence
    mutation.detail = detail.after(earlier.detail)
    return mutation
  }
}

extension Change {
  /// - Parameter owner: the feed's owner; `nil` means the zone's owner.
  func mutation(
    _ verb: FeedMutation.Verb, _ position: Position, _ detail: Detail, in owner: UserID? = nil
  ) -> FeedMutation {
    FeedMutation(
      verb: verb, position: position, device: device(in: owner ?? zone.owner), sequence: sequence,
      time: time, detail: detail)
  }

  /// - Parameter accepted: the time that feeds show if the producer sent none.
  func mutation(
    of record: RecordChange, _ position: Position, at accepted: Instant
  ) -> FeedMutation {
    let detail = Detail.record(type: record.type, tag: record.tag, author: shownAuthor)
    var mutation = mutation(record.verb.feedVerb, position, detail)
    mutation.time = record.modified ?? accepted
    return mutation
  }

  /// The author that feeds show. It is `nil` if the author is the zone's owner, who makes nearly
  /// all changes, or if no client of the author is known, so that most entries need not keep a
  /// name.
  private var shownAuthor: UserID? {
    guard let author, author.client != nil, author.user != zone.owner else { return nil }
    return author.user
  }

  /// The verb that the entry of the change's zone gets from the change.
  var zoneVerb: FeedMutation.Verb {
    switch event {
    case .record: .updated
    case .zone(let change): change.feedVerb
    case .granted: .created
    case .revoked: .deleted
    }
  }
}

extension ZoneChange {
  var feedVerb: FeedMutation.Verb {
    switch self {
    case .created: .created
    case .deleted: .deleted
    case .purged: .purged
    case .reset: .reset
    }
  }
}

extension RecordChange.Verb {
  var feedVerb: FeedMutation.Verb {
    switch self {
    case .created: .created
    case .updated: .updated
    case .deleted: .deleted
    }
  }
}
