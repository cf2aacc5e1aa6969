import OrderedCollections

/// One counter for each user and app, which `shouldBadge` subscriptions raise. It counts logged
/// notifications and not pushes: a repeated or merged attempt changes nothing.
extension Partition {
  /// A notification that shows a badge was logged for the user.
  mutating func raiseBadges(of user: Int) {
    for topic in topics(of: user) {
      save(badge: min(badges.count(topic, of: user) + 1, Badges.most), topic, of: user)
    }
  }

  /// The user's app has set its badge, for example when a person opened the app. No device is
  /// woken.
  mutating func setBadge(_ request: BadgeRequest) -> (Answer, Answer.Moment) {
    guard let user = users.find(request.user, in: request.scope) else { return (.done, .stepped) }
    let known = topics(of: user)
    for topic in known where request.topic == nil || request.topic == topic {
      save(badge: request.badge, topic, of: user)
    }
    return (.done, .stepped)
  }

  /// The number that a push to this device shows on the icon.
  func badge(of device: Int) -> Int {
    let slot = devices[device]
    return badges.count(slot.address.topic, of: slot.user)
  }

  /// Removes the badges of a user of whom the partition holds nothing else.
  mutating func dropBadges(of user: Int) {
    for topic in badges.topics(of: user) { save(badge: 0, topic, of: user) }
  }

  private mutating func save(badge: Int, _ topic: String, of user: Int) {
    let owner = users[user]
    badges.set(badge, of: user, BadgeRow.Key(scope: owner.scope, user: owner.user, topic: topic))
  }

  /// The topics of the user's devices, in the order of the devices.
  private func topics(of user: Int) -> OrderedSet<String> {
    OrderedSet(devices.all(of: user).map { devices[$0].address.topic })
  }
}
