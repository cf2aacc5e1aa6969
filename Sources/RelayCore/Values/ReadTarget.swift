/// Something that clients read: a feed, or a user's subscriptions or devices. The newest changes of
/// the target may still wait for a fold.
package enum ReadTarget: Hashable, Sendable {
  case feed(FeedKey)
  case subscriptions(Scope, UserID)
  case devices(Scope, UserID)
}

extension ReadTarget {
  /// The partition whose steps change the target.
  package var partition: PartitionID {
    switch self {
    case .feed(let feed): feed.partition
    case .subscriptions(let scope, let user), .devices(let scope, let user):
      .home(of: user, in: scope)
    }
  }
}
