import OrderedCollections

/// What has happened in one feed since the last cut.
struct FeedBuffer: Sendable {
  var cleared: Position?
  var floor: Position?
  var gap: Bool?
  private(set) var deltas: OrderedDictionary<Subject, Delta> = [:]
  var marks = WaitingMarks()
  /// The newest place of what was dropped.
  private(set) var trimmed: Position?
  /// Deltas that the last look for the oldest left.
  private var kept = 0

  init(cleared: Position? = nil, floor: Position? = nil, gap: Bool? = nil) {
    (self.cleared, self.floor, self.gap) = (cleared, floor, gap)
  }

  var isUntouched: Bool {
    cleared == nil && floor == nil && gap == nil && deltas.isEmpty && marks.isEmpty
  }

  /// - Parameter bound: so many newest entries a fold keeps in this feed; nil: all.
  /// - Returns: how many more subjects wait for the cut; less than none if some were dropped.
  mutating func add(_ touch: FeedMutation, to subject: Subject, bound: Int?) -> Int {
    if let index = deltas.index(forKey: subject) {
      deltas.values[index].add(touch)
      return 0
    }
    deltas[subject] = Delta(touch)
    // Rarely, for it looks at all of them.
    guard let bound, deltas.count > max(kept, bound) + bound else { return 1 }
    return 1 - trim(to: bound)
  }

  /// Drops the oldest deltas whose entries the fold would remove as soon as it had made them: so
  /// one request of many changes costs no more than the entries that stay.
  ///
  /// A deletion may tell of what is gone already, and makes no entry then. A feed holds no more
  /// than `bound` such subjects, so of twice as many deltas at least `bound` make an entry.
  ///
  /// - Returns: how many went.
  @discardableResult
  mutating func trim(to bound: Int) -> Int {
    guard deltas.count > bound else { return 0 }
    let newest = deltas.values.map { (age: marks.age(of: $0), makesAnEntry: $0.makesAnEntry) }
      .sorted { $0.age > $1.age }
    var (place, entries) = (0, 0)
    while place < newest.count, place < 2 * bound, entries < bound {
      if newest[place].makesAnEntry { entries += 1 }
      place += 1
    }
    if place < newest.count {
      let border = newest[place].age
      deltas.removeAll { [marks] in marks.age(of: $0.value) <= border }
      trimmed = border.place
    }
    kept = deltas.count
    return newest.count - kept
  }
}

extension Delta {
  /// Whatever the feed holds of the subject, the fold brings it to the last touch's place.
  fileprivate var makesAnEntry: Bool { rest != nil || opening.outcome == .present }
}
