/// Who wants to hear of what. A change touches only subscriptions that can fire: one's own by
/// owner, public ones by record type and by the value of an equality filter.
///
/// Subscriptions fire in the order of their serials, which replay gives again.
package struct SubscriptionIndex: Sendable {
  package struct Held: Hashable, Sendable {
    package var serial: Position
    package var subscription: Subscription
  }

  /// A public subscription that fires, and whose it is.
  package struct Hit: Hashable, Sendable {
    package var user: Int
    package var held: Held
  }

  /// By user; each in order of serial.
  private var held: [[Held]] = []
  private var postings: [PublicKey: Postings] = [:]
  private var owners: [Position: Int] = [:]

  private struct PublicKey: Hashable {
    var scope: Scope
    var recordType: String
  }

  package init() {}

  package func all(of user: Int) -> [Held] { user < held.count ? held[user] : [] }

  package func find(_ id: SubscriptionID, _ database: Database, of user: Int) -> Held? {
    all(of: user).first { $0.subscription.id == id && $0.subscription.database == database }
  }

  /// Saves anew or in place of one with the same serial.
  package mutating func save(_ new: Held, of user: Int, in scope: Scope) {
    while held.count <= user { held.append([]) }
    if let index = held[user].firstIndex(where: { $0.serial == new.serial }) {
      unpost(held[user][index], in: scope)
      held[user][index] = new
    } else {
      let index = held[user].firstIndex { $0.serial > new.serial } ?? held[user].endIndex
      held[user].insert(new, at: index)
    }
    guard case .query(let rule) = new.subscription.rule, new.subscription.database == .public
    else { return }
    owners[new.serial] = user
    postings[PublicKey(scope: scope, recordType: rule.recordType), default: Postings()]
      .insert(new, rule)
  }

  package mutating func remove(serial: Position, of user: Int, in scope: Scope) {
    guard let index = all(of: user).firstIndex(where: { $0.serial == serial }) else { return }
    unpost(held[user][index], in: scope)
    held[user].remove(at: index)
  }

  private mutating func unpost(_ old: Held, in scope: Scope) {
    guard case .query(let rule) = old.subscription.rule, old.subscription.database == .public
    else { return }
    owners[old.serial] = nil
    let key = PublicKey(scope: scope, recordType: rule.recordType)
    postings[key]?.remove(old, rule)
    if postings[key]?.isEmpty == true { postings[key] = nil }
  }

  /// A user's own subscriptions that `change` fires, as the user sees it in `database`; only those
  /// saved before `ordinal`.
  package func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [Held] {
    all(of: user).filter {
      $0.serial.ordinal < ordinal && $0.subscription.database == database
        && $0.subscription.fires(for: change)
    }
  }

  /// Public subscriptions that a record change fires, after `cursor` and saved before `ordinal`,
  /// in order of serial, at most `limit`; each costs the same however many there are.
  package func publicMatches(
    _ change: Change, record: RecordChange, after cursor: Position, before ordinal: Ordinal,
    limit: Int
  ) -> [Hit] {
    let key = PublicKey(scope: change.scope, recordType: record.type)
    guard let postings = postings[key] else { return [] }
    var found: [Held] = []
    postings.forEachList(record.fields) { list in
      var taken = 0
      for item in list[Postings.start(in: list, after: cursor)...] where taken < limit {
        guard item.serial.ordinal < ordinal else { break }
        guard item.subscription.fires(for: change) else { continue }
        found.append(item)
        taken += 1
      }
    }
    found.sort { $0.serial < $1.serial }
    return found.prefix(limit).compactMap { item in
      owners[item.serial].map { Hit(user: $0, held: item) }
    }
  }
}
