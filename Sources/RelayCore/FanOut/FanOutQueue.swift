import OrderedCollections

/// Wide changes that continue in slices. Changes of one subject run one after the other. The queue
/// also holds what the next cut writes, which is only the fan-outs that changed.
struct FanOutQueue: Sendable {
  private enum Written {
    /// The change and its progress are written.
    case begun
    /// Only the progress is written.
    case moved
    case ended
  }

  private var all: OrderedDictionary<Ordinal, FanOut> = [:]
  private var written: OrderedDictionary<Ordinal, Written> = [:]
  /// The memory of the queued changes, in bytes.
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

  /// The subject's fan-out that runs or will run next. Later fan-outs of the subject wait behind
  /// that fan-out.
  func first(of subject: Subject) -> FanOut? { all.values.first { $0.subject == subject } }

  /// The fan-outs that run, one for each subject.
  var running: [FanOut] {
    var subjects: Set<Subject> = []
    return all.values.filter { subjects.insert($0.subject).inserted }
  }

  /// Adds a new fan-out, or stores the progress of a fan-out that is already in the queue.
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
      case (.moved, let out?): cut.fanOutsMoved.append(out)
      case (.ended, _), (_, nil): cut.fanOutsEnded.append(origin)
      }
    }
    written = [:]
  }
}
