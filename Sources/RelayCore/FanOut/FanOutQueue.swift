import OrderedCollections

/// Wide changes that go on in slices: those of one subject one after the other, and what of them
/// the next cut writes. A cut writes what changed of one, and never the others.
struct FanOutQueue: Sendable {
  private enum Written {
    /// Its change and where it stands.
    case begun
    /// Where it stands.
    case moved
    case ended
  }

  private var all: OrderedDictionary<Ordinal, FanOut> = [:]
  private var written: OrderedDictionary<Ordinal, Written> = [:]
  /// What the changes in them take.
  private(set) var bytes = 0

  init() {}

  init(loading rows: [FanOut]) {
    for out in rows.sorted(by: { $0.origin < $1.origin }) {
      all[out.origin] = out
      bytes += out.change.footprint
    }
  }

  var count: Int { all.count }
  var isEmpty: Bool { all.isEmpty }
  var isDirty: Bool { !written.isEmpty }
  var oldest: FanOut? { all.values.first }

  subscript(_ origin: Ordinal) -> FanOut? { all[origin] }

  /// The one that runs, or runs next, of a subject; later ones wait behind it.
  func first(of subject: Subject) -> FanOut? { all.values.first { $0.subject == subject } }

  /// Of each subject the one that runs.
  var running: [FanOut] {
    var subjects: Set<Subject> = []
    return all.values.filter { subjects.insert($0.subject).inserted }
  }

  /// One that begins, or has come so far.
  mutating func keep(_ out: FanOut) {
    if all.updateValue(out, forKey: out.origin) == nil {
      bytes += out.change.footprint
      written[out.origin] = .begun
    } else if written[out.origin] == nil {
      written[out.origin] = .moved
    }
  }

  mutating func end(_ out: FanOut) {
    all[out.origin] = nil
    bytes -= out.change.footprint
    written[out.origin] = .ended
  }

  mutating func drain(into cut: inout PartitionCut) {
    for (origin, change) in written {
      switch (change, all[origin]) {
      case (.begun, let out?): cut.fanOuts.append(out)
      case (.moved, let out?): cut.fanOutsMoved.append(FanOutMove(out))
      case (.ended, _), (_, nil): cut.fanOutsEnded.append(origin)
      }
    }
    written = [:]
  }
}
