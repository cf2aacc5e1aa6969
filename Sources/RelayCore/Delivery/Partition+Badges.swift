import OrderedCollections

/// One counter for each user and app, which `shouldBadge` subscriptions raise. It counts what is
/// logged, not what is pushed: an attempt repeated or merged changes nothing.
extension Partition {
  /// A notification that shows a badge was logged for the user.
  mutating func raiseBadges(of user: Int) {
    for topic in topics(of: user) {
      save(badge: min((badges[user]?[topic] ?? 0) + 1, Self.badgeMax), topic, of: user)
    }
  }

  /// The user's app has set its badge, as when it was opened. Wakes nobody.
  mutating func setBadge(_ request: BadgeRequest) -> (Answer, Answer.Moment) {
    guard let user = users.find(request.user, in: request.scope) else { return (.done, .stepped) }
    let known = topics(of: user)
    for topic in known where request.topic == nil || request.topic == topic {
      save(badge: request.badge, topic, of: user)
    }
    return (.done, .stepped)
  }

  /// What the icon shows beside a push to this device.
  func badge(of device: Int) -> Int {
    let slot = devices[device]
    return badges[slot.user]?[slot.address.topic] ?? 0
  }

  /// Nothing is left of the user here.
  mutating func dropBadges(of user: Int) {
    for topic in badges[user]?.keys.elements ?? [] { save(badge: 0, topic, of: user) }
  }

  static let badgeMax = Int(Int32.max)

  private mutating func save(badge: Int, _ topic: String, of user: Int) {
    guard badge != badges[user]?[topic] ?? 0 else { return }
    badges[user, default: [:]][topic] = badge == 0 ? nil : badge
    if badges[user]?.isEmpty == true { badges[user] = nil }
    let owner = users[user]
    let row = BadgeRow(scope: owner.scope, user: owner.user, topic: topic, count: badge)
    rows.badges[row.key] = row
  }

  /// Of the user's devices, in their order.
  private func topics(of user: Int) -> OrderedSet<String> {
    OrderedSet(devices.all(of: user).map { devices[$0].address.topic })
  }
}
