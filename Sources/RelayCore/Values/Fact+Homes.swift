extension Fact {
  /// The partitions whose journals get the fact; none for facts that a partition journals itself.
  package var homes: [PartitionID] {
    switch self {
    case .change(let change): [change.home]
    case .register(let request): [.home(of: request.user, in: request.scope)]
    case .unregister(let request): [.home(of: request.user, in: request.scope)]
    case .modify(let request): [.home(of: request.user, in: request.scope)]
    case .markRead(let request): [.home(of: request.user, in: request.scope)]
    case .setBadge(let request): [.home(of: request.user, in: request.scope)]
    case .lostHistory(let feed, _): [feed.partition]
    case .expireTokens(let expiry): expiry.homes
    case .slice, .forwarded, .tick, .forget: []
    }
  }
}

extension TokenExpiry {
  fileprivate var homes: [PartitionID] {
    guard let user, let container, let environment else { return PartitionID.all }
    return [.home(of: user, in: Scope(container: container, environment: environment))]
  }
}
