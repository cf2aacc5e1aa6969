import OrderedCollections

/// Which fields the subscriptions of one partition read when changes arrive in another one. The
/// value holds the interests that this partition has sent to the homes of such changes, and the
/// interests that this partition has received as a home.
struct Interests: Sendable {
  private var heard: [Interest.Key: [PartitionID: Interest.Fields]] = [:]
  private var own: [Interest.Key: OwnInterest] = [:]
  /// Keys of `own` that changed with the fact being stepped.
  private var changed: OrderedSet<Interest.Key> = []
  private var written: OrderedDictionary<InterestPlace, Interest.Fields> = [:]

  var isDirty: Bool { !written.isEmpty }

  /// Whether no subscription of this partition reads changes that another partition may receive.
  var isEmpty: Bool { own.isEmpty }

  mutating func add(_ subscription: Subscription, in scope: Scope) {
    guard let key = subscription.interest(in: scope) else { return }
    own[key, default: OwnInterest()].add(subscription)
    changed.append(key)
  }

  mutating func remove(_ subscription: Subscription, in scope: Scope) {
    guard let key = subscription.interest(in: scope) else { return }
    own[key]?.remove(subscription)
    changed.append(key)
  }

  /// The interests that this partition must send to the homes of the changes concerned.
  struct News {
    var messages: OrderedDictionary<PartitionID, [Interest]> = [:]
    /// Whether an interest has grown. The client's request is then answered only when all homes
    /// have received the messages.
    var isMore = false
  }

  var hasNews: Bool { !changed.isEmpty }

  mutating func takeNews() -> News {
    var news = News()
    let keys = changed
    changed = []
    for key in keys.sorted() {
      guard let interest = own[key] else { continue }
      let fields = interest.fields
      if fields != interest.told {
        if !interest.told.covers(fields) { news.isMore = true }
        own[key]?.told = fields
        for home in Self.homes(of: key) {
          news.messages[home, default: []].append(Interest(key: key, fields: fields))
        }
      }
      if interest.count == 0 { own[key] = nil }
    }
    return news
  }

  /// The partitions where changes of the key's record type arrive: one partition for a public
  /// database, all partitions for shared zones.
  private static func homes(of key: Interest.Key) -> [PartitionID] {
    guard key.database == .public else { return PartitionID.all }
    return [.home(of: ZoneID.publicDefault.owner, in: key.scope)]
  }

  mutating func hear(_ told: [Interest], from source: PartitionID) {
    for interest in told {
      heard[interest.key, default: [:]][source] =
        interest.fields == .ended ? nil : interest.fields
      if heard[interest.key]?.isEmpty == true { heard[interest.key] = nil }
      written[InterestPlace(key: interest.key, source: source)] = interest.fields
    }
  }

  /// The partitions whose subscriptions read changes of the key's record type, in order.
  func readers(of key: Interest.Key) -> [PartitionID] { heard[key]?.keys.sorted() ?? [] }

  func fields(of key: Interest.Key, for target: PartitionID) -> Interest.Fields {
    heard[key]?[target] ?? .ended
  }

  /// How many subscriptions of this partition read changes of the key's record type.
  func count(of key: Interest.Key) -> Int { own[key]?.count ?? 0 }

  mutating func load(_ row: InterestRow) {
    heard[row.interest.key, default: [:]][row.source] = row.interest.fields
  }

  /// The tables are loaded. The homes already have the interests of the loaded subscriptions,
  /// because the facts that created the subscriptions sent them.
  mutating func loaded() {
    for key in changed {
      let fields = own[key]?.fields ?? .ended
      own[key]?.told = fields
    }
    changed = []
  }

  mutating func drain(into cut: inout PartitionCut) {
    cut.interests = written.map {
      InterestRow(source: $0.key.source, interest: Interest(key: $0.key.key, fields: $0.value))
    }
    written = [:]
  }
}

/// The key of an interest's row in the home that received the interest.
struct InterestPlace: Hashable, Sendable {
  var key: Interest.Key
  var source: PartitionID
}
