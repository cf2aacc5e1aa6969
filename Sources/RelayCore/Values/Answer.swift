/// The answer to the caller that submitted a fact.
package enum Answer: Hashable, Sendable {
  /// The change is durable, and every later read shows it.
  case accepted
  /// A repeated (source, id) of the same producer: the change was accepted before.
  case duplicate
  case registered(ClientID)
  case subscriptions([SubscriptionAnswer])
  case done
  case refused(Refusal)

  /// How far a fact's consequences must be done before its answer may be sent.
  package enum Moment: Hashable, Comparable, Sendable {
    /// The fact is durable and stepped.
    case stepped
    /// A fold has brought into the store everything that the fact changed.
    case folded
    /// The fact is folded, every partition it was forwarded to has stepped it, and every push that
    /// it recalls has left or can no longer leave. This moment is used for a grant, a revocation, a
    /// registration, a sign-out, and a subscription that reads fields which other partitions do not
    /// send yet (P9).
    case settled
    /// The fact is settled, and so is everything that its partition forwarded before it. This
    /// moment is used for the end of a zone, and for a repeated revocation or end, which must not
    /// be answered before the first one.
    case caughtUp
  }
}

package enum SubscriptionAnswer: Hashable, Sendable {
  case saved(Subscription)
  case deleted(SubscriptionID)
  case refused(SubscriptionID, Refusal)
}

/// The reason why the core refuses a fact. The HTTP error table documents the answer to the client.
package enum Refusal: Error, Hashable, Sendable {
  case duplicateSubscription(of: SubscriptionID)
  case tooManySubscriptions(max: Int)
  case tooManySubscriptionBytes(max: Int)
  /// `roomIn` is the time until the first address at the courier lapses; `nil` means that no device
  /// of the user has such an address.
  case tooManyDevices(max: Int, roomIn: Span? = nil)
  case tooManyParticipants(max: Int)
  case tooManyReadMarks(max: Int)
  case tooManyZones(max: Int)
  case tooManyRecords(max: Int)
  case unknownSubscription
}
