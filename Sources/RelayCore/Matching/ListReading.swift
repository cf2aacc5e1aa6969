/// A record's list, prepared for filters. Work that costs its whole length is done once for a
/// change, and only when a filter needs it. Otherwise, with 50,000 members and a thousand
/// subscriptions, each filter would delay all other work by a millisecond.
final class ListReading {
  /// Nil: members have several types, or one is NaN; no filter then passes.
  let kind: MemberKind?
  let members: [FieldValue]
  private let zone: ZoneID
  private var known: Set<FieldValue>?
  private var knownAnchors: Set<FieldValue>?
  private var texts: [String]?
  /// How many members filters have examined.
  private(set) var work = 0
  /// How many members were examined to build sets and sorted texts: the list's length for each, and
  /// its length times its logarithm for a sort.
  private(set) var read: Int

  /// Up to this length it is cheaper to examine all members.
  private static let few = 16

  init(_ members: [FieldValue], in zone: ZoneID) {
    self.members = members
    self.zone = zone
    kind = MemberKind(members)
    read = members.count
  }

  /// - Parameter value: a value of the list's type.
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

  /// Whether the list has a member that an index keeps under `anchor`.
  func hasMember(indexedAs anchor: FieldValue) -> Bool {
    // Only references and lists are indexed under a value other than their own.
    guard kind == .only(.reference) || kind == .only(.list) else { return contains(anchor) }
    let known = knownAnchors ?? Set(anchors())
    knownAnchors = known
    work += 1
    return known.contains(anchor)
  }

  /// The values under which an index keeps the members; computed anew each time.
  func anchors() -> some Sequence<FieldValue> {
    read += members.count
    return members.lazy.map(\.anchor)
  }

  /// Whether a member begins with `start`; the list holds texts, or is empty.
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
    // In the order of code points, all texts that begin with `start` follow it directly.
    return low < texts.count && ByteOrdered.begins(texts[low], with: start)
  }
}

/// The type of a list's members.
enum MemberKind: Hashable, Sendable {
  /// An empty list is of every type.
  case any
  case only(FieldValue.Kind)

  /// Nil: members have several types, or one of them is NaN.
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
