import OrderedCollections

/// All subscriptions of a partition. For a change, the index examines only subscriptions that can
/// fire: those of one user, or public ones by record type and by a value that a filter requires.
///
/// Subscriptions fire in the order of their serials, which a replay reproduces.
package struct SubscriptionIndex: Sendable {
  /// A saved subscription. A `Held` never changes, so its user's list and the postings share one
  /// object. So each subscription is stored once, even if there are a million, and an insertion
  /// into a user's list moves only eight bytes for each later item.
  package final class Held: Hashable, Sendable {
    package let serial: Position
    package let subscription: Subscription
    /// A hash of the rule, so that most different rules are distinguished without a full
    /// comparison.
    let ruleHash: Int

    package init(serial: Position, subscription: Subscription) {
      self.serial = serial
      self.subscription = subscription
      ruleHash = subscription.rule.hashValue
    }

    package static func == (left: Held, right: Held) -> Bool {
      left === right || (left.serial == right.serial && left.subscription == right.subscription)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(serial) }
  }

  /// A public subscription that fires, and its user.
  package struct Hit: Hashable, Sendable {
    package var user: Int
    package var held: Held
  }

  /// Public subscriptions that fire, in order of serial.
  package struct Page: Hashable, Sendable {
    package var hits: [Hit] = []
    /// The position after which the next call continues; `nil` means that no further subscription
    /// fires.
    package var next: Position?
    /// The cost of the search.
    package var work = 0
  }

  /// The subscriptions of each user, in order of serial; indexed by the user's number.
  private var held: [[Held]] = []
  /// The bytes of each user's subscriptions, which a limit bounds; indexed by the user's number.
  private var bytes: [Int] = []
  private var postings: [PublicKey: Postings] = [:]
  /// Rows that the next cut writes; `nil` means that the cut removes the row.
  private var written: OrderedDictionary<SubscriptionKey, SubscriptionRow?> = [:]

  private struct PublicKey: Hashable {
    var scope: Scope
    var recordType: String
  }

  package init() {}

  package func all(of user: Int) -> [Held] { user < held.count ? held[user] : [] }

  /// The bytes of all subscriptions of a user (`Subscription.bytes`).
  package func bytes(of user: Int) -> Int { user < bytes.count ? bytes[user] : 0 }

  /// Whether the index holds no public subscription and no bytes; for tests.
  var isWithoutPostings: Bool {
    postings.isEmpty && bytes.allSatisfy { $0 == 0 }
  }

  package func find(_ id: SubscriptionID, _ database: Database, of user: Int) -> Held? {
    all(of: user).first { $0.subscription.id == id && $0.subscription.database == database }
  }

  /// Saves a new subscription, or replaces one with the same serial. The cost does not depend on
  /// the number of users: the places in the user's own list and in the lists of the record type are
  /// found in logarithmic time.
  package mutating func save(_ new: Held, of user: Int, in scope: Scope) {
    while held.count <= user {
      held.append([])
      bytes.append(0)
    }
    bytes[user] += new.subscription.bytes
    let place = place(of: new.serial, of: user)
    if place < held[user].count, held[user][place].serial == new.serial {
      forget(held[user][place], of: user, in: scope)
      held[user][place] = new
    } else {
      held[user].insert(new, at: place)
    }
    guard case .query(let rule) = new.subscription.rule, new.subscription.database == .public
    else { return }
    postings[PublicKey(scope: scope, recordType: rule.recordType), default: Postings()]
      .insert(PostingList.Item(serial: new.serial, user: user, held: new), rule)
  }

  package mutating func remove(serial: Position, of user: Int, in scope: Scope) {
    guard user < held.count else { return }
    let place = place(of: serial, of: user)
    guard place < held[user].count, held[user][place].serial == serial else { return }
    forget(held[user].remove(at: place), of: user, in: scope)
  }

  /// Saves the subscription, and marks it for the next cut, which writes its row.
  mutating func save(_ new: Held, of user: Int, _ owner: Users.Key) {
    save(new, of: user, in: owner.scope)
    let row = SubscriptionRow(
      scope: owner.scope, user: owner.user, serial: new.serial, subscription: new.subscription)
    written[row.key] = .some(row)
  }

  /// Removes the subscription, and marks it for the next cut, which removes its row.
  mutating func remove(_ held: Held, of user: Int, _ owner: Users.Key) {
    remove(serial: held.serial, of: user, in: owner.scope)
    let key = SubscriptionKey(
      scope: owner.scope, user: owner.user, database: held.subscription.database,
      id: held.subscription.id)
    written[key] = .some(nil)
  }

  var isDirty: Bool { !written.isEmpty }

  mutating func drain(into cut: inout PartitionCut) {
    cut.subscriptions = written.values.compactMap(\.self)
    cut.subscriptionsRemoved = written.filter { $0.value == nil }.map(\.key)
    written = [:]
  }

  private mutating func forget(_ old: Held, of user: Int, in scope: Scope) {
    bytes[user] -= old.subscription.bytes
    guard case .query(let rule) = old.subscription.rule, old.subscription.database == .public
    else { return }
    let key = PublicKey(scope: scope, recordType: rule.recordType)
    postings[key]?.remove(old.serial, rule)
    if postings[key]?.isEmpty == true { postings[key] = nil }
  }

  /// The first index in a user's list whose serial is not below `serial`.
  private func place(of serial: Position, of user: Int) -> Int {
    var (low, high) = (0, held[user].count)
    while low < high {
      let middle = (low + high) / 2
      if held[user][middle].serial < serial { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The subscriptions of a user to `database` that `change` fires, among those saved before
  /// `ordinal`.
  package func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [Held] {
    var reading = ChangeReading(change)
    return matches(&reading, in: database, of: user, before: ordinal)
  }

  /// The subscriptions of a user that a prepared change fires; `reading` counts the cost.
  func matches(
    _ reading: inout ChangeReading, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [Held] {
    guard user < held.count else { return [] }
    var found: [Held] = []
    for held in held[user] {
      guard held.serial.ordinal < ordinal else { break }
      guard held.subscription.database == database, held.subscription.fires(for: &reading) else {
        continue
      }
      found.append(held)
    }
    return found
  }

  /// Public subscriptions that a change of a record fires, after `cursor` and saved before
  /// `ordinal`. Returns at most `limit` of them, and fewer if the call examined many that do not
  /// fire, so that one call takes a bounded time. The cost depends only on the subscriptions
  /// examined.
  ///
  /// - Parameter atLeast: how many subscriptions the call examines whatever they cost.
  package func publicMatches(
    _ change: Change, after cursor: Position, before ordinal: Ordinal, limit: Int,
    atLeast: Int = 0
  ) -> Page {
    var reading = ChangeReading(change)
    var page = publicMatches(
      &reading, after: cursor, before: ordinal, limit: limit, atLeast: atLeast)
    page.work = reading.work + reading.read
    return page
  }

  /// Public subscriptions that a prepared change fires; `reading` counts the cost.
  func publicMatches(
    _ reading: inout ChangeReading, after cursor: Position, before ordinal: Ordinal, limit: Int,
    atLeast: Int = 0
  ) -> Page {
    var page = Page()
    guard let record = reading.record,
      let postings = postings[PublicKey(scope: reading.change.scope, recordType: record.type)]
    else { return page }
    var merge = PostingMerge(postings.lists(for: &reading), after: cursor)
    // The search for the lists does not count toward this bound; the sizes of the record and of
    // the index bound the cost of the search.
    let workMax = reading.work + (limit + 1) * Self.workPerHit
    var last = cursor
    var looks = 0
    while let item = merge.next(), item.serial.ordinal < ordinal {
      if reading.work >= workMax, looks >= atLeast {
        page.next = last
        return page
      }
      if item.held.subscription.fires(for: &reading) {
        if page.hits.count == limit {
          page.next = page.hits[limit - 1].held.serial
          return page
        }
        page.hits.append(Hit(user: item.user, held: item.held))
      }
      last = item.serial
      looks += 1
    }
    return page
  }

  /// Whether a change of a record may fire more than `count` public subscriptions, judged by the
  /// length of the lists that hold them.
  func mayFire(_ change: Change, moreThan count: Int) -> Bool {
    guard case .record(let record) = change.event,
      let postings = postings[PublicKey(scope: change.scope, recordType: record.type)]
    else { return false }
    var left = count
    var reading = ChangeReading(change)
    for list in postings.lists(for: &reading) {
      left -= list.count(upTo: left)
      if left < 0 { return true }
    }
    return false
  }

  /// The serial of a subscription that the change may fire; the hash `draw` decides which one.
  func publicPlace(_ change: Change, _ draw: UInt64) -> Position {
    var reading = ChangeReading(change)
    guard let record = reading.record,
      let postings = postings[PublicKey(scope: change.scope, recordType: record.type)],
      let longest = postings.lists(for: &reading).max(by: PostingList.isShorter)
    else { return .zero }
    return longest.serial(draw)
  }

  /// One call may cost this much for each subscription that its `limit` allows. With a limit of
  /// 1,000, a call examines 64,000 subscriptions with one filter each, in some milliseconds.
  private static let workPerHit = 128
}
