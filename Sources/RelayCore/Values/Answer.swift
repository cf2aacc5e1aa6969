/// What stepping a fact answers to whoever asked for it.
package enum Answer: Hashable, Sendable {
  /// Taken: durable, and every later read shows it.
  case accepted
  /// A repeated (source, id) of the same producer: taken before.
  case duplicate
  case registered(ClientID)
  case subscriptions([SubscriptionAnswer])
  case done
  case refused(Refusal)

  /// How far the fact's consequences must have come before its answer may be sent.
  package enum Moment: UInt8, Hashable, Comparable, Sendable {
    /// Durable and stepped.
    case stepped
    /// Its deltas are in the store.
    case folded
    /// Folded, every partition it was forwarded to has stepped it, and every push that it takes
    /// back has left or cannot leave any more: a revocation, a zone's end, a takeover of an
    /// address, a sign-out, the first interest in a public database (P9).
    case settled
    /// Settled, and so is all that its partition forwarded before: what must hold before it is
    /// answered, and was asked for before, is answered no sooner than the first.
    case caughtUp

    package static func < (left: Moment, right: Moment) -> Bool { left.rawValue < right.rawValue }
  }
}

package enum SubscriptionAnswer: Hashable, Sendable {
  case saved(Subscription)
  case deleted(SubscriptionID)
  case refused(SubscriptionID, Refusal)
}

/// The core says no. What a client is told of it stands in the HTTP error table.
package enum Refusal: Error, Hashable, Sendable {
  case duplicateSubscription(of: SubscriptionID)
  case tooManySubscriptions(max: Int)
  case tooManySubscriptionBytes(max: Int)
  /// `roomIn`: when the first address of those that have only the courier lapses, if it has any.
  case tooManyDevices(max: Int, roomIn: Span? = nil)
  case tooManyParticipants(max: Int)
  case tooManyReadMarks(max: Int)
  case tooManyZones(max: Int)
  case tooManyRecords(max: Int)
  case unknownSubscription
  case zoneNotFound
}
