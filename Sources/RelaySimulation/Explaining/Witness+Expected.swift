import RelayCore

/// The outcomes that the world allows for a pair of a change and a device.
extension Witness {
  /// - Parameters:
  ///   - waiting: the reasons for which a notification that pends may still be untold.
  ///   - subscription: the subscription whose delivery is meant; `nil` means all deliveries.
  /// - Returns: the allowed outcomes; `nil` if the world knows too little.
  func expected(
    _ notification: Identifier, for key: DeviceKey, waiting: Set<String>,
    of subscription: SubscriptionID? = nil
  ) -> Set<String>? {
    guard let all = arrivals[notification], let first = all.first, !unclear.contains(key.user)
    else { return nil }
    let change = first.change
    if first.isSuperseded { return ["no_effect"] }
    if let other = ofOthers(change, key) { return [other] }
    let home = PartitionID.home(of: key.user, in: key.scope)
    let isOwners = change.database != .public && change.zone.owner == key.user
    let here = isOwners ? first : all.last { $0.partition == home && $0.isForUsers(of: home) }
    guard let here else { return notArrived(first, home) }
    var allowed: Set<String> = []
    if here.isUnclear {
      allowed.formUnion(onItsWay)
      if !isOwners { return nil }
    }
    if !isOwners, plan.limits.fanOuts <= 3 { allowed.formUnion(onItsWay) }
    allowed.formUnion(arrived(here, key, subscription, isOwners: isOwners, waiting) ?? ["?"])
    return allowed.contains("?") ? nil : allowed
  }

  private func ofOthers(_ change: Change, _ key: DeviceKey) -> String? {
    switch change.event {
    case .granted(let user), .revoked(let user):
      if user != key.user { return "other_user" }
      return user == change.zone.owner ? "no_effect" : nil
    case .record, .zone: return nil
    }
  }

  private func notArrived(_ first: SeenChange, _ home: PartitionID) -> Set<String>? {
    if first.change.database == .public {
      return onItsWay.union(["no_subscription", "unregistered"])
    }
    guard first.partitions.contains(home) else { return ["zone_not_visible"] }
    return onItsWay
  }

  /// The outcomes that an explanation may give for a change that is on its way. If a recovery
  /// stepped the change, the relay may not know that it is on its way, and says `unknown`.
  private var onItsWay: Set<String> {
    hasCrashed ? ["on_its_way", "unknown"] : ["on_its_way"]
  }

  /// The outcomes of a change that came to the user's partition.
  private func arrived(
    _ here: SeenChange, _ key: DeviceKey, _ subscription: SubscriptionID?, isOwners: Bool,
    _ waiting: Set<String>
  ) -> Set<String>? {
    let change = here.change
    if change.database != .public, !isOwners {
      let isMember = here.members.contains(key.user)
      switch change.event {
      case .granted: if isMember { return ["no_effect"] }
      case .record, .zone, .revoked: if !isMember { return ["zone_not_visible"] }
      }
    }
    guard let retiring = here.devices[key] else { return ["unregistered"] }
    guard var fired = here.fired[key.user] else {
      return [here.covered.contains(key.user) ? "filter_not_met" : "no_subscription"]
    }
    if change.author == Change.Author(user: key.user, client: key.client) { return ["own_change"] }
    if let subscription { fired.removeAll { $0.subscription != subscription } }
    switch retiring {
    case .yes: return ["retired"]
    case .maybe: return outcomes(fired, key, waiting).union(["retired"])
    case .no: return outcomes(fired, key, waiting)
    }
  }

  private func outcomes(
    _ all: [SeenChange.Fired], _ key: DeviceKey, _ waiting: Set<String>
  ) -> Set<String> {
    var allowed: Set<String> = []
    for fired in all {
      var delivery = SeenDelivery(fired, alertsPending: plan.limits.alertsPending)
      var isAfter = false
      for sight in sights[key] ?? [] {
        if case .fired(let other) = sight, other.position == fired.position {
          isAfter = true
        } else if isAfter || sight.isLate {
          delivery.note(sight)
        }
      }
      allowed.formUnion(delivery.outcomes)
      if delivery.mayBeCrowdedOut { allowed.insert("crowded_out") }
      if delivery.mayPend { allowed.formUnion(waiting) }
    }
    return allowed
  }
}

extension SeenChange {
  /// Whether the change came to this partition for the partition's users, and not only because the
  /// partition is the change's home.
  fileprivate func isForUsers(of partition: PartitionID) -> Bool {
    if change.database == .public { return true }
    guard partition == change.home else { return true }
    return partitions.contains(partition) || !members.isEmpty
  }
}

extension Witness.Sight {
  fileprivate var isLate: Bool {
    if case .fired(let fired) = self { fired.isLate } else { false }
  }
}
