import Synchronization

/// Work that is held until the test releases it, and the order in which it began.
final class HeldWork: Sendable {
  private struct State {
    var begun: [String] = []
    var held: [CheckedContinuation<Void, Never>] = []
    var isLetGo = false
  }

  private let state = Mutex(State())

  var begun: [String] { state.withLock { $0.begun } }

  func run(_ user: String = "") async {
    await withCheckedContinuation { continuation in
      let isLetGo = state.withLock { state in
        state.begun.append(user)
        if !state.isLetGo { state.held.append(continuation) }
        return state.isLetGo
      }
      if isLetGo { continuation.resume() }
    }
  }

  /// Repeatedly releases one held piece of work and waits until the next piece begins, until `all`
  /// pieces have begun. Then releases the rest.
  func letGoInTurn(_ all: Int) async {
    while true {
      let begun = begun.count
      guard begun < all else { return letGo() }
      state.withLock { $0.held.removeFirst() }.resume()
      while self.begun.count == begun { await Task.yield() }
    }
  }

  /// Releases all held and all future work.
  func letGo() {
    let held = state.withLock { state in
      state.isLetGo = true
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }
}
