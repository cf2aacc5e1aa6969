@testable import RelayCore

/// All events of one record, and the state that they lead to without any compaction. The feed tests
/// compare feeds with this state.
struct FeedHistory {
  struct Event {
    var verb: FeedMutation.Verb
    var device: ClientID?
    var isTyped: Bool
    var sequence: Int64?
  }

  var events: [Event] = []

  static let devices: [ClientID?] = [Sample.client(1), Sample.client(2), nil]
  static let verbs: [FeedMutation.Verb] = [.created, .updated, .deleted]
  static let subject = Subject.record("r")

  /// Makes a history from numbers from 0 to 8: each number stands for one of the three verbs by one
  /// of the three devices.
  init(_ word: [Int]) {
    events = word.map {
      Event(verb: Self.verbs[$0 / 3], device: Self.devices[$0 % 3], isTyped: true)
    }
  }

  init(random draw: inout SeededRandom, length: Int) {
    events = (0..<length).map { _ in
      Event(
        verb: draw.pick(Self.verbs), device: draw.pick(Self.devices), isTyped: draw.chance(60),
        sequence: draw.chance(50) ? Int64(draw.below(9)) : nil)
    }
  }

  static func position(_ index: Int) -> Position { Sample.position(UInt64(index + 1) * 10) }

  func mutation(_ index: Int) -> FeedMutation {
    let event = events[index]
    return FeedMutation(
      verb: event.verb, position: Self.position(index), device: event.device,
      sequence: event.sequence, time: .s(Double(index)),
      detail: .record(
        type: event.isTyped ? "T\(index)" : "", tag: "\(index)",
        author: event.device == nil ? nil : UserID("_\(index)")))
  }

  func delta(_ range: Range<Int>) -> Delta {
    var delta = Delta(mutation(range.lowerBound))
    for index in range.dropFirst() { delta.add(mutation(index)) }
    return delta
  }

  func fold(_ range: Range<Int>, into entry: Entry? = nil) -> Entry? {
    range.reduce(entry) { Fold.fold($0, Delta(mutation($1)), subject: Self.subject) }
  }

  /// True for each event that changed something: deleting a deleted record changes nothing.
  var effective: [Bool] {
    var isPresent: Bool?
    return events.map { event in
      let becomes = event.verb != .deleted
      defer { isPresent = isPresent == false && !becomes ? false : becomes }
      return becomes || isPresent != false
    }
  }

  enum Known { case present, gone, unknown }

  /// What a reader with everything up to `token` holds of the record. A record whose first event is
  /// no creation may have existed before that event.
  func state(at token: Position) -> Known {
    var state: Known = events.first?.verb == .created ? .gone : .unknown
    for index in events.indices where Self.position(index) <= token {
      state = events[index].verb == .deleted ? .gone : .present
    }
    return state
  }

  var lives: Int {
    var count = events.first?.verb == .created ? 0 : 1
    var isPresent = count == 1
    for event in events {
      if event.verb != .deleted && !isPresent { count += 1 }
      isPresent = event.verb != .deleted
    }
    return count
  }

  /// Whether `device` made every change since `token`.
  func isOwn(of device: ClientID, since token: Position) -> Bool {
    let counted = zip(events.indices, effective).filter { $0.1 }.map { $0.0 }
    guard let last = counted.last, events[last].device == device else { return false }
    return counted.allSatisfy { Self.position($0) <= token || events[$0].device == device }
  }
}
