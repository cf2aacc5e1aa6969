/// Something that the core has decided and that the coordinator must now do, in the order of the
/// core's decisions. `Fact` and `Effect` together give an overview of the core.
package enum Effect: Hashable, Sendable {
  /// Send a fact's answer once its moment has been reached.
  case answer(PartitionID, Ordinal, Answer, Answer.Moment)
  /// A read of this place must wait for the next fold.
  case dirtied(ReadTarget)
  /// Journal a fact that the relay made. Such a fact has a reserved place and is never refused.
  case journal(PartitionID, Fact)
  /// Hand a wake to its route, which may be the courier; call `attemptEnded` exactly once.
  case push(PushAttempt)
  /// Take these attempts back unless they have left, because the user may no longer see the
  /// attempts' content, or because the device was unregistered or lost its address. The fact at
  /// this place is answered once none of the attempts can leave any more.
  case recall([PushAttempt.ID], FactPlace)
  /// Log that a device was retired because its provider reported the address as dead.
  case retired(RouteKey, Verdict.Reason)
  /// Log that a route's circuit opened (with a reason) or closed (nil).
  case circuit(RouteKey, stoppedBy: Verdict.Reason?)
  /// Log that so many addresses are reported dead that no more devices are retired; `nil` means
  /// that dead devices are retired again.
  case pruning(RouteKey, Pruning.Stop?)
  /// Log that a hot change matched more devices than its smear's rate can wake within the smear's
  /// longest time, so they are woken faster.
  case hurried(Scope)
  /// The device is no longer registered: end its poll or stream at the courier.
  case hangUp(DeviceKey)
}

/// The place of a fact: its partition, and its ordinal in that partition's journal.
package struct FactPlace: Hashable, Sendable {
  package var partition: PartitionID
  package var ordinal: Ordinal

  package init(partition: PartitionID, ordinal: Ordinal) {
    (self.partition, self.ordinal) = (partition, ordinal)
  }
}

/// One attempt to wake one device, as the core decided it. The engine computes the push's id with a
/// key.
package struct PushAttempt: Hashable, Sendable {
  package struct ID: Hashable, Sendable {
    package var partition: PartitionID
    package var device: Int
    /// A number that is never repeated in a process, so a late verdict settles no other attempt.
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
