/// A record's list, prepared for filters. Work that reads the whole list is done once for a change,
/// and only when a filter needs the result. If each filter of a thousand subscriptions read 50,000
/// members again, each filter would delay all other work by a millisecond.
final class ListReading {
  /// The type of the members; `nil` means that the members have several types or that one is NaN,
  /// and then no filter passes.
  let kind: MemberKind?
  let members: [FieldValue]
  private let zone: ZoneID
  private var known: Set<FieldValue>?
  private var knownAnchors: Set<FieldValue>?
  private var texts: [String]?
  /// How many members the filters have examined so far.
  private(set) var work = 0
  /// The cost of preparing the list, in members: the list's length for its type and for each set,
  /// and the length times its logarithm for a sort.
  private(set) var read: Int

  /// A list of at most this length is searched member by member, which is cheaper than building a
  /// set.
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
    // In the order of code points, the texts that begin with `start` come directly after all texts
    // that precede `start`.
    return low < texts.count && ByteOrdered.begins(texts[low], with: start)
  }
}

/// The type of a list's members.
enum MemberKind: Hashable, Sendable {
  /// The list is empty, so it counts as a list of every type.
  case any
  case only(FieldValue.Kind)

  /// The result is `nil` if the members have several types, or if one of them is NaN.
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
