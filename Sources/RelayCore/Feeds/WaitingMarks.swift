/// The read marks of one feed that wait for the next cut.
struct WaitingMarks: Sendable {
  private var requests: [ReadMarks] = []
  /// Of each id, the request that named it last.
  private var latest: [Identifier: Position] = [:]
  /// Ids named, repeated ones included: what a limit counts, because they all take room.
  private(set) var count = 0

  var isEmpty: Bool { requests.isEmpty }

  mutating func add(_ marks: ReadMarks) {
    requests.append(marks)
    for id in marks.notifications { latest[id] = marks.position }
    count += marks.notifications.count
  }

  /// Of a notification's entry as the fold will leave it: a mark moves it to its own place, and
  /// there it stands in the order of the changes.
  func age(of delta: Delta) -> (place: Position, changed: Position) {
    let changed = delta.last.position
    guard !isEmpty, case .notification(let detail) = delta.last.detail,
      let mark = latest[detail.notification]
    else { return (changed, changed) }
    return (max(mark, changed), changed)
  }

  /// Each id once, in the request that named it last. The last one marks whatever an earlier one
  /// would have marked: a mark reaches every change before it.
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
