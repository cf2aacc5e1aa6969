/// The records of one zone by name, each with its change tag, as the zone's pages have told.
///
/// A sink that has no database of its own may keep this value, stored as JSON. Store this value
/// together with whatever else a page changes.
///
/// Names are compared as Swift compares texts: two names that differ only in how a letter with an
/// accent is written are one name here. CloudKit's record names are ASCII. If the app's record
/// server gives out other names, the sink should keep names by their bytes.
public struct ZoneRecords: Hashable, Sendable, Codable {
  /// The change tag of each record; an empty text if the record server gave none.
  public private(set) var tags: [String: String] = [:]
  /// The records that pages have named since a page began the zone anew; nil at other times.
  private var named: Set<String>?

  public init() {}

  /// Brings a page in. To bring the same page in twice has the same result as once.
  ///
  /// - Returns: the names of records that are gone: those that the page deletes and, after the last
  ///   page of a zone that was begun anew, those that no page has named.
  @discardableResult
  public mutating func apply(_ page: ZonePage) -> Set<String> {
    if page.startsOver { named = [] }
    for record in page.deleted { tags[record.name] = nil }
    for record in page.changed { tags[record.name] = record.changeTag ?? "" }
    named?.formUnion(page.changed.map(\.name))
    var gone = Set(page.deleted.map(\.name))
    if page.isLast, let named {
      gone.formUnion(tags.keys.filter { !named.contains($0) })
      tags = tags.filter { named.contains($0.key) }
      self.named = nil
    }
    return gone
  }
}
