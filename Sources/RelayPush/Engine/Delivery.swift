import RelayEngine

/// One request on its way through the engine.
struct Delivery {
  /// Rises with each request admitted.
  let number: UInt64
  let request: Request
  /// Whether it may still leave; nil: nobody takes it back.
  let handover: Handover?
  let answer: @Sendable (Outcome) -> Void
  /// Put on a stream later than this it would hardly be answered in time.
  let sendBy: Uptime
  var place = Place.waiting
  var resends = 0

  enum Place: Equatable {
    case waiting
    /// On a connection, at this place of its session.
    case stream(LinkID, Int)
  }
}
