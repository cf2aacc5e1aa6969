import OrderedCollections

/// The numbers on the icons of each user's apps, by topic. A number of zero is not stored.
struct Badges: Sendable {
  static let most = Int(Int32.max)

  private var counts: [Int: OrderedDictionary<String, Int>] = [:]
  private var written: OrderedDictionary<BadgeRow.Key, BadgeRow> = [:]

  var isDirty: Bool { !written.isEmpty }

  func count(_ topic: String, of user: Int) -> Int { counts[user]?[topic] ?? 0 }

  func topics(of user: Int) -> [String] { counts[user]?.keys.elements ?? [] }

  /// - Parameter key: the row of this user and topic.
  mutating func set(_ count: Int, of user: Int, _ key: BadgeRow.Key) {
    guard count != self.count(key.topic, of: user) else { return }
    load(count, key.topic, of: user)
    written[key] = BadgeRow(scope: key.scope, user: key.user, topic: key.topic, count: count)
  }

  /// Takes over a row of the tables, without marking it for the next cut.
  mutating func load(_ count: Int, _ topic: String, of user: Int) {
    counts[user, default: [:]][topic] = count == 0 ? nil : count
    if counts[user]?.isEmpty == true { counts[user] = nil }
  }

  mutating func drain(into cut: inout PartitionCut) {
    cut.badges = written.values.elements
    written = [:]
  }
}
