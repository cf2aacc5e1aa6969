/// A producer's change, without the values of its record.
package struct TracedChange: Hashable, Sendable {
  /// The keyed hash of scope, source and id, which names the change in all entries.
  package var notification: Identifier
  package var scope: Scope
  package var database: Database
  package var zone: ZoneID
  /// For a change of a record, the event holds only the verb and the record's name and type.
  package var event: Change.Event
  package var author: Change.Author?
  /// The place of the change's fact in the journal of the change's home.
  package var place: FactPlace
  /// Whether the change has no effect, because a change with a higher number had settled the same
  /// record or participant before, or because the zone's life had ended.
  package var isSuperseded: Bool
  /// Whether a recovery stepped the change. An earlier life may have stepped the change too, and
  /// entries of that life about other partitions may be missing.
  package var isReplayed = false
}

/// A step of a change's way from its home to the users.
package struct TracedMove: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    /// The home forwards the change to these partitions. The list is never empty: a change that the
    /// home forwards to no partition makes no such entry.
    case forwarded([PartitionID])
    /// A partition stepped the forwarded change at `place`.
    case reached
    /// The change at `place` concerns more users than one step reaches, and goes on in slices.
    case spreading
    /// The last slice of the change at `place` was stepped.
    case spread
  }

  package var notification: Identifier
  package var scope: Scope
  package var place: FactPlace
  package var step: Step
}
