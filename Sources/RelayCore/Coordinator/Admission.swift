/// Decides which requests may enter the relay. No request may enter before the relay has begun,
/// while the relay drains, or while too many facts or entries wait for folds. Otherwise as many
/// requests may enter as the bounds allow. An admitted request counts, with its facts and its
/// bytes, until `release` (P11).
///
/// Some other inputs have bounds, too: they count until the relay takes all inputs that wait.
///
/// A shell asks this value about each request and input. The coordinator sees only those that were
/// admitted.
package struct Admission: Sendable {
  /// A number of facts and a number of bytes: the bounds, or what requests take of the bounds.
  package struct Room: Hashable, Sendable {
    package var facts: Int
    package var bytes: Int

    package static let none = Room(facts: 0, bytes: 0)

    package init(facts: Int, bytes: Int) {
      self.facts = facts
      self.bytes = bytes
    }

    /// The room that one request takes.
    package init(of request: [Fact]) {
      self.init(facts: request.count, bytes: request.reduce(0) { $0 + $1.footprint })
    }
  }

  private let bounds: Room
  /// The room of the requests that were admitted and are not answered yet.
  package private(set) var taken = Room.none
  /// Why every request is refused; `nil` means that requests are admitted.
  private var refusal: Unavailable? = .recovering
  package private(set) var hasBegun = false
  /// How many inputs about opened courier connections may wait: twice the number of connections
  /// that may be open, so that every open connection may be replaced at once. Inputs about closed
  /// connections need no bound, because each connection closes only once.
  private let connectedMax: Int
  private var connected = 0
  /// Acknowledgements beyond this bound are dropped, because a lost acknowledgement costs at most a
  /// repeated wake.
  package static let acknowledgementsMax = 65_536
  private var acknowledgements = 0

  /// - Parameter connectionsMax: how many courier connections may be open at the same time.
  package init(bounds: Room, connectionsMax: Int = 50_000) {
    (self.bounds, connectedMax) = (bounds, 2 * connectionsMax)
  }

  /// Asks whether a request may enter. Its room stays taken until `release`.
  ///
  /// A request above the bounds is admitted if no other request is there, so that no request is
  /// refused for ever.
  ///
  /// - Returns: why the request is refused; `nil` means that it is admitted.
  package mutating func offer(_ room: Room) -> Unavailable? {
    if let refusal { return refusal }
    let facts = taken.facts + room.facts
    let (bytes, isOver) = taken.bytes.addingReportingOverflow(room.bytes)
    guard taken.facts == 0 || (facts <= bounds.facts && !isOver && bytes <= bounds.bytes) else {
      return .inboxFull
    }
    taken = Room(facts: facts, bytes: bytes)
    return nil
  }

  /// Asks whether an input that is no request may wait for the relay's next turn. A stop may, and
  /// from then on every request is refused.
  package mutating func admits(_ input: Coordinator.Input) -> Bool {
    switch input {
    case .connected:
      guard connected < connectedMax else { return false }
      connected += 1
    case .acknowledged:
      guard acknowledgements < Self.acknowledgementsMax else { return false }
      acknowledgements += 1
    case .stop: drain()
    case .request, .appended, .folded, .trimmed, .verdict, .recalled, .left, .reconfigured: break
    }
    return true
  }

  /// The relay has taken all inputs that waited.
  package mutating func emptied() { (connected, acknowledgements) = (0, 0) }

  /// Frees a request's room once all facts of the request are answered, or the request is refused.
  package mutating func release(_ room: Room) {
    taken.facts -= room.facts
    taken.bytes -= room.bytes
  }

  /// Recovery is over: admits requests from now on, unless the relay drains already.
  package mutating func begin() {
    hasBegun = true
    if refusal == .recovering { refusal = nil }
  }

  /// Refuses every request from now on. This is final.
  package mutating func drain() { refusal = .draining }

  /// Sets why every request is refused from now on; `nil` means that requests are admitted. Once
  /// the relay drains, the call changes nothing.
  package mutating func refuse(_ cause: Unavailable?) {
    if refusal != .draining { refusal = cause }
  }

  package var isDraining: Bool { refusal == .draining }
}
