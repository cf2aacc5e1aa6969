/// The read marks of one feed that wait for the next cut.
struct WaitingMarks: Sendable {
  private var requests: [ReadMarks] = []
  /// For each id, the position of the last request that named it.
  private var latest: [Identifier: Position] = [:]
  /// Ids named, repeated ones included. A limit bounds this count, because each one takes memory.
  private(set) var count = 0

  var isEmpty: Bool { requests.isEmpty }

  mutating func add(_ marks: ReadMarks) {
    requests.append(marks)
    for id in marks.notifications { latest[id] = marks.position }
    count += marks.notifications.count
  }

  /// The position of a notification's entry after the fold. A read mark moves the entry to the
  /// mark's position; entries there are ordered by their changes.
  func age(of delta: Delta) -> (place: Position, changed: Position) {
    let changed = delta.last.position
    guard !isEmpty, case .notification(let detail) = delta.last.detail,
      let mark = latest[detail.notification]
    else { return (changed, changed) }
    return (max(mark, changed), changed)
  }

  /// Each id once, in the last request that named it. The last request marks everything that
  /// earlier ones would have marked, because a mark covers every change before it.
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
