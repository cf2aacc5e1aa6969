/// One change on its way from a producer to a device: which request comes next, and what each
/// answer means. The first hop that is broken ends the walk.
///
/// ```
/// register ─▶ subscribe ─▶ post ─▶ poll ─▶ fetch ─▶ acknowledge ─▶ confirm ─▶ done
///                                  └─ no wake yet: again ┘          └─ told and pending: again
/// ```
struct ChangeWalk {
  enum Hop: String, CaseIterable, Sendable {
    case device, subscription, post, courier, fetch, acknowledgement
  }

  enum Action: Equatable {
    case ask(WalkRequest)
    /// Ask after `pause`, which counts as time of the hop.
    case askLater(WalkRequest)
    case done
  }

  /// The time between two looks at what still pends.
  static let pause = Duration.milliseconds(50)

  let names: WalkNames
  /// How long the courier may take, and how long the acknowledgement may need until it is durable.
  let patience: Duration
  private(set) var state = State.begun
  /// The time that the hop under way has taken so far.
  private var spent = Duration.zero
  /// The address at the courier that the relay gave the device.
  private(set) var courierURL = ""
  /// The hops whose requests have perhaps made something in the relay, which must be removed.
  private(set) var made: Set<Hop> = []

  enum State: Equatable {
    case begun
    case registered
    case subscribed
    case posted
    case told(wake: Int)
    case fetched(wake: Int)
    case acknowledged
    case done
    case broken(Hop)
  }

  init(names: WalkNames, patience: Duration) {
    self.names = names
    self.patience = patience
  }

  /// What to do next. What the request makes counts as made from now on, because its answer may be
  /// lost.
  mutating func next() -> Action {
    if let hop { made.insert(hop) }
    switch state {
    case .begun: return .ask(.register)
    case .registered: return .ask(.subscribe)
    case .subscribed: return .ask(.post)
    case .posted: return .ask(.poll)
    case .told: return .ask(.fetch)
    case .fetched(let wake): return .ask(.acknowledge(wake: wake))
    case .acknowledged:
      spent += Self.pause
      return .askLater(.confirm)
    case .done, .broken: return .done
    }
  }

  /// The hop that the next request belongs to; nil after the last one.
  var hop: Hop? {
    switch state {
    case .begun: .device
    case .registered: .subscription
    case .subscribed: .post
    case .posted: .courier
    case .told: .fetch
    case .fetched, .acknowledged: .acknowledgement
    case .done, .broken: nil
    }
  }

  /// The requests that remove what the walk has made.
  var cleanUp: [WalkRequest] {
    Self.ends.compactMap { made.contains($0.made) ? $0.request : nil }
  }

  /// The subscription is removed first: while it exists, the end of the zone would wake the devices
  /// of other doctors. The device is removed last: by the device, a later run finds what a killed
  /// run has left.
  static let ends: [(made: Hop, request: WalkRequest)] = [
    (.subscription, .unsubscribe), (.post, .endZone), (.device, .unregister),
  ]

  /// - Parameter took: the time from the request to its answer.
  /// - Returns: a finding if the answer ends a hop.
  mutating func answered(_ answer: WalkAnswer, took: Duration) -> Finding? {
    guard let hop else { return nil }
    spent += took
    let next: State
    do throws(WalkFault) {
      next = try state.after(answer, names)
      if state == .begun { courierURL = try answer.body()["webcourierURL"].string }
    } catch {
      // A request that the relay has refused made nothing; one whose answer was lost may have made
      // something.
      if case .answered = answer { made.remove(hop) }
      state = .broken(hop)
      return .found(hop.code, hop.subject, cause: error.cause)
    }
    if next == state {
      guard spent < patience else {
        state = .broken(hop)
        return .found(hop.code, hop.subject, cause: hop.late(after: spent))
      }
      return nil
    }
    state = next
    guard self.hop != hop else { return nil }
    defer { spent = .zero }
    return .passed(.change, hop.subject, hop.success, took: spent)
  }
}
