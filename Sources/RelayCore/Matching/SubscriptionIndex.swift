/// Who wants to hear of what. A change touches only subscriptions that can fire: one's own by
/// owner, public ones by record type and by a value that a filter asks for.
///
/// Subscriptions fire in the order of their serials, which replay gives again.
package struct SubscriptionIndex: Sendable {
  /// A saved subscription. It never changes, so its user's list and the postings share one: a
  /// million of them are kept once, and lists move eight bytes for each.
  package final class Held: Hashable, Sendable {
    package let serial: Position
    package let subscription: Subscription

    package init(serial: Position, subscription: Subscription) {
      self.serial = serial
      self.subscription = subscription
    }

    package static func == (left: Held, right: Held) -> Bool {
      left === right || (left.serial == right.serial && left.subscription == right.subscription)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(serial) }
  }

  /// A public subscription that fires, and whose it is.
  package struct Hit: Hashable, Sendable {
    package var user: Int
    package var held: Held
  }

  /// Public subscriptions that fire, in order of serial.
  package struct Page: Hashable, Sendable {
    package var hits: [Hit] = []
    /// Where to go on; nil: nothing that fires lies beyond.
    package var next: Position?
  }

  /// By user; each in order of serial.
  private var held: [[Held]] = []
  private var postings: [PublicKey: Postings] = [:]

  private struct PublicKey: Hashable {
    var scope: Scope
    var recordType: String
  }

  package init() {}

  package func all(of user: Int) -> [Held] { user < held.count ? held[user] : [] }

  /// True if nothing is indexed; for tests.
  var isWithoutPostings: Bool { postings.isEmpty }

  package func find(_ id: SubscriptionID, _ database: Database, of user: Int) -> Held? {
    all(of: user).first { $0.subscription.id == id && $0.subscription.database == database }
  }

  /// Saves anew or in place of one with the same serial. Costs the same however many users there
  /// are; O(log n) among the user's own and those of its record type.
  package mutating func save(_ new: Held, of user: Int, in scope: Scope) {
    while held.count <= user { held.append([]) }
    let place = place(of: new.serial, of: user)
    if place < held[user].count, held[user][place].serial == new.serial {
      unpost(held[user][place], in: scope)
      held[user][place] = new
    } else {
      held[user].insert(new, at: place)
    }
    guard case .query(let rule) = new.subscription.rule, new.subscription.database == .public
    else { return }
    postings[PublicKey(scope: scope, recordType: rule.recordType), default: Postings()]
      .insert(SerialList.Item(serial: new.serial, user: user, held: new), rule)
  }

  package mutating func remove(serial: Position, of user: Int, in scope: Scope) {
    guard user < held.count else { return }
    let place = place(of: serial, of: user)
    guard place < held[user].count, held[user][place].serial == serial else { return }
    unpost(held[user].remove(at: place), in: scope)
  }

  private mutating func unpost(_ old: Held, in scope: Scope) {
    guard case .query(let rule) = old.subscription.rule, old.subscription.database == .public
    else { return }
    let key = PublicKey(scope: scope, recordType: rule.recordType)
    postings[key]?.remove(old.serial, rule)
    if postings[key]?.isEmpty == true { postings[key] = nil }
  }

  /// The first place in a user's list that is not before `serial`.
  private func place(of serial: Position, of user: Int) -> Int {
    var (low, high) = (0, held[user].count)
    while low < high {
      let middle = (low + high) / 2
      if held[user][middle].serial < serial { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A user's own subscriptions that `change` fires, as the user sees it in `database`; only those
  /// saved before `ordinal`.
  package func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [Held] {
    guard user < held.count else { return [] }
    var reading = ChangeReading(change)
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
  /// `ordinal`: at most `limit`, and fewer where many had to be looked at in vain, so that one call
  /// takes a bounded time. Costs what it looks at, however many others there are.
  package func publicMatches(
    _ change: Change, after cursor: Position, before ordinal: Ordinal, limit: Int
  ) -> Page {
    var page = Page()
    var reading = ChangeReading(change)
    guard let record = reading.record,
      let postings = postings[PublicKey(scope: change.scope, recordType: record.type)]
    else { return page }
    var merge = SerialMerge(postings.lists(for: record), after: cursor)
    var left = (limit + 1) * Self.looksPerHit
    var last = cursor
    while let item = merge.next(), item.serial.ordinal < ordinal {
      if left == 0 {
        page.next = last
        return page
      }
      left -= 1
      if item.held.subscription.fires(for: &reading) {
        if page.hits.count == limit {
          page.next = page.hits[limit - 1].held.serial
          return page
        }
        page.hits.append(Hit(user: item.user, held: item.held))
      }
      last = item.serial
    }
    return page
  }

  /// Whether a change of a record may fire more than `count` public subscriptions: it is looked up
  /// in lists of so many.
  func mayFire(_ change: Change, moreThan count: Int) -> Bool {
    guard case .record(let record) = change.event,
      let postings = postings[PublicKey(scope: change.scope, recordType: record.type)]
    else { return false }
    var left = count
    for list in postings.lists(for: record) {
      left -= list.count(upTo: left)
      if left < 0 { return true }
    }
    return false
  }

  /// The place of one that the change may fire, whichever `draw` means.
  func publicPlace(_ change: Change, _ draw: UInt64) -> Position {
    guard case .record(let record) = change.event,
      let postings = postings[PublicKey(scope: change.scope, recordType: record.type)],
      let longest = postings.lists(for: record).max(by: { $0.pieceCount < $1.pieceCount })
    else { return .zero }
    return longest.serial(draw)
  }

  /// A slice of 1,000 looks at 64,000 at most: some milliseconds.
  private static let looksPerHit = 64
}

/// Several lists as one, in order of serial, each serial once.
private struct SerialMerge {
  private var walks: [SerialList.Walk]

  init(_ lists: [SerialList], after cursor: Position) {
    walks = lists.map { $0.walk(after: cursor) }.filter { $0.item != nil }
  }

  mutating func next() -> SerialList.Item? {
    var lowest: SerialList.Item?
    for walk in walks {
      guard let item = walk.item else { continue }
      if lowest.map({ item.serial < $0.serial }) ?? true { lowest = item }
    }
    guard let lowest else { return nil }
    for index in walks.indices where walks[index].item?.serial == lowest.serial {
      walks[index].advance()
    }
    return lowest
  }
}
