import RelayCore

/// The expected state of one zone's number spaces, computed without any bound: which numbers are
/// missing, and for each subject the highest number received.
struct Numbers {
  struct Space {
    var highest: Int64
    var missing: Set<Int64> = []
    var last: [String: Int64] = [:]
  }

  /// What remains of a number space after a change with a number has ended the zone.
  struct Ended {
    var origin: UInt64
    var number: Int64
    var highest: Int64
    var missing: Set<Int64>
  }

  private(set) var spaces: [UInt64: Space] = [:]
  private var ended: Ended?

  var hasGap: Bool { spaces.values.contains { !$0.missing.isEmpty } }

  /// - Returns: false if the change has no effect, because a change of the same subject or an end
  ///   of the zone, with a higher number, came before.
  mutating func hear(_ change: Change) -> Bool {
    guard let number = change.sequence else { return true }
    if let known = ended, known.origin == change.origin, number < known.number {
      if ended?.missing.remove(number) != nil { return false }
      ended = nil
    }
    let before = ended?.origin == change.origin ? ended?.highest : nil
    var space = spaces[change.origin] ?? Space(highest: before ?? number)
    defer { spaces[change.origin] = space }
    if number > space.highest {
      space.missing.formUnion(space.highest + 1..<number)
      space.highest = number
    } else if space.missing.remove(number) != nil,
      let subject = change.numbered, space.last[subject] ?? number > number
    {
      return false
    }
    if let subject = change.numbered {
      space.last[subject] = max(number, space.last[subject] ?? number)
    }
    return true
  }

  mutating func end(by change: Change) {
    var next: Ended?
    if let number = change.sequence, let own = spaces[change.origin] {
      next = Ended(
        origin: change.origin, number: number, highest: own.highest,
        missing: own.missing.filter { $0 < number })
      if let ended, ended.origin == change.origin { next?.missing.formUnion(ended.missing) }
    }
    (spaces, ended) = ([:], next)
  }
}

extension Change {
  fileprivate var numbered: String? {
    switch event {
    case .record(let record): "record \(record.name)"
    case .granted(let user), .revoked(let user): "user \(user.name)"
    case .zone: nil
    }
  }
}
