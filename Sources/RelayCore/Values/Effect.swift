/// What the core wants done, in the order it was decided. With `Fact`, the table of contents.
package enum Effect: Hashable, Sendable {
  /// Send a fact's answer once its moment has come.
  case answer(PartitionID, Ordinal, Answer, Answer.Moment)
  /// A read of this place must now wait for the fold.
  case dirtied(ReadTarget)
  /// Journal a fact of our own; it has a reserved place and is never refused.
  case journal(PartitionID, Fact)
  /// Hand a wake to its route, which may be the courier; say `attemptEnded` exactly once.
  case push(PushAttempt)
  /// Take these attempts back unless they have left: they may tell what their user may not see any
  /// more. The fact at this place is answered once none of them can leave any more.
  case recall([PushAttempt.ID], FactPlace)
  /// Tell people: an address was given up by its provider's word.
  case retired(RouteKey, Verdict.Reason)
  /// Tell people: a route is stopped, for this reason; nil: it goes on.
  case circuit(RouteKey, stoppedBy: Verdict.Reason?)
  /// Tell people: so many addresses are called dead that none is given up any more; nil: they are
  /// given up again.
  case pruning(RouteKey, Pruning.Stop?)
  /// Tell people: a hot change matched more devices than its smear's rate can wake in the longest
  /// time, and wakes them faster.
  case hurried(Scope)
  /// This device is no more: its poll or stream at the courier ends.
  case hangUp(DeviceKey)
}

/// Where a fact stands in the journals.
package struct FactPlace: Hashable, Sendable {
  package var partition: PartitionID
  package var ordinal: Ordinal

  package init(partition: PartitionID, ordinal: Ordinal) {
    (self.partition, self.ordinal) = (partition, ordinal)
  }
}

/// One attempt at one device, as decided. The push's id is made outside, from a key.
package struct PushAttempt: Hashable, Sendable {
  package struct ID: Hashable, Sendable {
    package var partition: PartitionID
    package var device: Int
    /// Never repeated in a process: a late verdict finds nothing to settle.
    package var serial: UInt64
  }

  package var id: ID
  package var device: DeviceKey
  package var route: RouteKey
  package var wake: UInt32
  package var address: Address
  package var intent: Push.Intent
  package var expires: Instant
  package var collapse: String?
  package var payload: [UInt8]
}
