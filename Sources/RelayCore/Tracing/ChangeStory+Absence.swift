/// Why a change fired no subscription for the device. The reason follows from the recorded entries
/// and from the present state, with every event undone that was recorded after the change.
extension ChangeStory {
  var absence: Explanation.Outcome {
    let key = standing.device
    if change.isSuperseded { return .not(.noEffect) }
    if change.scope != key.scope { return .not(.zoneNotVisible) }
    switch change.event {
    case .granted(let user) where user != key.user, .revoked(let user) where user != key.user:
      return .not(.otherUser)
    case .granted, .revoked:
      // The owner sees the zone without a grant, so a grant or its withdrawal changes nothing.
      if change.isOwnersOf(key.user) { return .not(.noEffect) }
    case .zone(let end) where end != .created && change.zone.isDefault:
      return .not(.noEffect)
    case .record, .zone: break
    }
    if hasLost { return .unknown }
    return notReached ?? .not(notMatched)
  }

  /// The outcome if the change has not reached the user's partition, or if slices of the change are
  /// still to come there; `nil` otherwise.
  private var notReached: Explanation.Outcome? {
    guard reached == nil else {
      return isSpreading ? .not(.onItsWay) : nil
    }
    // If a recovery stepped the change, the user's partition may have stepped the change in an
    // earlier life of the daemon, too, and the entry of that step may be missing.
    if targets.contains(home) { return change.isReplayed ? .unknown : .not(.onItsWay) }
    guard change.database == .public else { return .not(.zoneNotVisible) }
    let ordinal = change.place.partition == home ? change.place.ordinal : nil
    return wasRegistered(before: ordinal) ? .not(.noSubscription) : .not(unregistered)
  }

  private var notMatched: Explanation.Reason {
    let ordinal = reached ?? change.place.ordinal
    if change.database != .public, !change.isOwnersOf(standing.device.user) {
      switch visibility(at: ordinal) {
      case .visible: break
      case .hidden: return .zoneNotVisible
      case .already: return .noEffect
      }
    }
    guard wasRegistered(before: ordinal) else { return unregistered }
    let database: Database =
      change.database == .public
      ? .public : change.isOwnersOf(standing.device.user) ? .private : .shared
    let covering = subscriptions(at: ordinal).first { $0.covers(change, in: database) }
    if let covering, !hasFired { return .filterNotMet(covering.id) }
    return hasFired ? unregistered : .noSubscription
  }

  private var unregistered: Explanation.Reason {
    for case (.unregistered, let at) in registrations.reversed() { return .unregistered(at: at) }
    return .unregistered(at: nil)
  }

  /// Whether the device was registered when the change came to the device's partition.
  ///
  /// - Parameter ordinal: the fact with which the change came; `nil` if the change did not come to
  ///   the device's partition.
  private func wasRegistered(before ordinal: Ordinal?) -> Bool {
    for (event, at) in registrations {
      // Entries of a replay may be about facts before the change.
      func isLater(_ by: Ordinal) -> Bool { ordinal.map { by > $0 } ?? (at > begun) }
      switch event {
      case .registered(_, _, let by, let isNew): if isLater(by) { return !isNew }
      case .unregistered(let by): if isLater(by) { return true }
      default: continue
      }
    }
    return standing.registration != nil
  }

  private enum Visibility { case visible, hidden, already }

  /// Whether the zone was shared with the user when the change came.
  private func visibility(at ordinal: Ordinal) -> Visibility {
    var isGrant = false
    if case .granted = change.event { isGrant = true }
    for (event, at) in userEvents {
      switch event {
      case .joined(change.zone, let by) where by >= ordinal:
        return by == ordinal ? .visible : .hidden
      case .left(change.zone, let by) where by >= ordinal:
        if by == ordinal { return .visible }
        if isGrant { return .already }
        // A slice that was stepped after the user had left did not reach the user.
        let isBeforeSlice = hasSpread && spreadAt.map { at <= $0 } ?? false
        return isBeforeSlice ? .hidden : .visible
      case .joined, .left, .subscribed, .unsubscribed: continue
      }
    }
    guard let since = standing.shared[change.zone], since < ordinal else { return .hidden }
    return isGrant ? .already : .visible
  }

  /// The user's subscriptions when the change came: the present subscriptions, after every save and
  /// deletion recorded since is undone.
  private func subscriptions(at ordinal: Ordinal) -> [SubscriptionOutline] {
    var all = standing.subscriptions
    var undone: Set<UserEvent> = []
    for (event, at) in userEvents.reversed() where undone.insert(event).inserted {
      // A subscription that was removed before the last slice was stepped counts as absent, because
      // its user's slice may have been stepped after the removal.
      let isBeforeSlice = hasSpread && spreadAt.map { at <= $0 } ?? false
      switch event {
      case .subscribed(let new, let before, let by) where by >= ordinal:
        all.removeAll { $0.id == new.id && $0.database == new.database }
        if let before { all.append(before) }
      case .unsubscribed(let old, let by) where by >= ordinal && !isBeforeSlice: all.append(old)
      case .subscribed, .unsubscribed, .joined, .left: continue
      }
    }
    return all.filter { $0.since < ordinal }.sorted { $0.since < $1.since }
  }
}
