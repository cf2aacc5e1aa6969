/// The read marks of one feed that wait for the next cut.
struct WaitingMarks: Sendable {
  private var requests: [ReadMarks] = []
  /// For each id, the position of the last request that named it.
  private var latest: [Identifier: Position] = [:]
  /// How many ids the requests name, including repeated ids. A limit bounds this count, because
  /// each id takes memory.
  private(set) var count = 0

  var isEmpty: Bool { requests.isEmpty }

  mutating func add(_ marks: ReadMarks) {
    requests.append(marks)
    for id in marks.notifications { latest[id] = marks.position }
    count += marks.notifications.count
  }

  /// The position of a notification's entry after the fold, and the position of its last change. A
  /// read mark moves the entry to the mark's position; entries that one request marks keep the
  /// order of their changes.
  func age(of delta: Delta) -> (place: Position, changed: Position) {
    let changed = delta.last.position
    guard !isEmpty, case .notification(let detail) = delta.last.detail,
      let mark = latest[detail.notification]
    else { return (changed, changed) }
    return (max(mark, changed), changed)
  }

  /// The requests; each id stays only in the last request that named it. That request marks
  /// everything that earlier requests would have marked, because a mark covers every change before
  /// the mark.
  var merged: [ReadMarks] {
    var left = latest
    return requests.compactMap { request in
      var marks = request
      marks.notifications = request.notifications.filter { id in
        guard left[id] == request.position else { return false }
        left[id] = nil
        return true
      }
      return marks.notifications.isEmpty ? nil : marks
    }
  }
}
