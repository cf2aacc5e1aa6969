import OrderedCollections

/// The changes of one feed since the last cut.
struct FeedBuffer: Sendable {
  var cleared: Position?
  var floor: Position?
  var gap: Bool?
  private(set) var deltas: OrderedDictionary<Subject, Delta> = [:]
  var marks = WaitingMarks()
  /// The newest position of the dropped deltas.
  private(set) var trimmed: Position?
  /// How many deltas the last `trim` kept.
  private var kept = 0

  init(cleared: Position? = nil, floor: Position? = nil, gap: Bool? = nil) {
    (self.cleared, self.floor, self.gap) = (cleared, floor, gap)
  }

  var isUntouched: Bool {
    cleared == nil && floor == nil && gap == nil && deltas.isEmpty && marks.isEmpty
  }

  /// - Parameter bound: how many of the newest entries a fold keeps in this feed; `nil` means all
  ///   entries.
  /// - Returns: how many more subjects wait for the cut; negative if some were dropped.
  mutating func add(_ mutation: FeedMutation, to subject: Subject, bound: Int?) -> Int {
    if let index = deltas.index(forKey: subject) {
      deltas.values[index].add(mutation)
      return 0
    }
    deltas[subject] = Delta(mutation)
    // The code trims rarely, because `trim` visits all deltas.
    guard let bound, deltas.count > max(kept, bound) + bound else { return 1 }
    return 1 - trim(to: bound)
  }

  /// Drops the oldest deltas, because the fold would create their entries and remove them at once.
  /// So a request of many changes costs no more than the entries that stay.
  ///
  /// A deletion of a subject that is already deleted creates no entry. A feed holds at most `bound`
  /// deleted subjects, so among `2 * bound` deltas at least `bound` create an entry.
  ///
  /// - Returns: how many deltas were dropped.
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
  /// Whether the fold moves the subject's entry to the last change's position, whatever the feed
  /// already holds.
  fileprivate var makesAnEntry: Bool { rest != nil || opening.outcome == .present }
}
