/// A list in a record, as filters look into it. What costs its whole length is done once for a
/// change, and only when a filter asks for it: with 50,000 members and a thousand subscriptions
/// otherwise each filter would delay all other work by a millisecond.
final class ListReading {
  /// Nil: of several types, or NaN among them; then it goes with nothing.
  let kind: MemberKind?
  let members: [FieldValue]
  private let zone: ZoneID
  private var known: Set<FieldValue>?
  private var knownAnchors: Set<FieldValue>?
  private var texts: [String]?
  /// Members looked at by filters.
  private(set) var work = 0
  /// Members looked at to make what filters are answered from: as often as the list is long, and
  /// once more for each of its length's digits where it had to be sorted.
  private(set) var read: Int

  /// Up to here it is cheaper to look at all members.
  private static let few = 16

  init(_ members: [FieldValue], in zone: ZoneID) {
    self.members = members
    self.zone = zone
    kind = MemberKind(members)
    read = members.count
  }

  /// - Parameter value: of the list's type.
  func contains(_ value: FieldValue) -> Bool {
    guard members.count > Self.few else {
      work += members.count
      return members.contains { $0.isEqual(to: value, in: zone) }
    }
    if known == nil {
      known = Set(minimumCapacity: members.count)
      for member in members { known?.insert(member.resolved(in: zone)) }
      read += members.count
    }
    work += 1
    return known?.contains(value.resolved(in: zone)) ?? false
  }

  /// Whether subscriptions that an index has under this value may ask for a member.
  func hasMember(indexedAs anchor: FieldValue) -> Bool {
    // Only these are indexed as something else than they are.
    guard kind == .only(.reference) || kind == .only(.list) else { return contains(anchor) }
    let known = knownAnchors ?? Set(anchors())
    knownAnchors = known
    work += 1
    return known.contains(anchor)
  }

  /// Members as an index has them; looked through anew each time.
  func anchors() -> some Sequence<FieldValue> {
    read += members.count
    return members.lazy.map(\.anchor)
  }

  /// Whether some text begins so; the list is one of texts, or empty.
  func hasMember(beginningWith start: String) -> Bool {
    guard members.count > Self.few else {
      work += members.count
      return members.contains { $0.begins(with: start) }
    }
    if texts == nil {
      texts = members.compactMap(\.text).sorted(by: ByteOrdered.precedes)
      read += members.count * (Int.bitWidth - members.count.leadingZeroBitCount)
    }
    let texts = texts ?? []
    var (low, high) = (0, texts.count)
    while low < high {
      let middle = (low + high) / 2
      if ByteOrdered.precedes(texts[middle], start) { low = middle + 1 } else { high = middle }
      work += 1
    }
    // What begins with a text follows it in the order of code points, before anything else does.
    return low < texts.count && ByteOrdered.begins(texts[low], with: start)
  }
}

/// The type of a list's members.
enum MemberKind: Hashable, Sendable {
  /// An empty list is of every type.
  case any
  case only(FieldValue.Kind)

  /// Nil: they are of several types, or one of them is NaN.
  init?(_ members: [FieldValue]) {
    guard let first = members.first else {
      self = .any
      return
    }
    self = .only(first.kind)
    guard members.allSatisfy({ $0.kind == first.kind && !$0.hasNaN }) else { return nil }
  }

  func goes(with other: MemberKind) -> Bool {
    self == .any || other == .any || self == other
  }
}
