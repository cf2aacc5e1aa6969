import RelayEngine

/// One request on its way through the engine.
struct Delivery {
  /// Rises with each request admitted.
  let number: UInt64
  let request: Request
  /// Says whether the request may still be sent; nil: the caller never takes it back.
  let handover: Handover?
  let answer: @Sendable (Outcome) -> Void
  /// A request put on a stream after this time would hardly be answered in time.
  let sendBy: Uptime
  var place = Place.waiting
  var resends = 0

  enum Place: Equatable {
    case waiting
    /// On a stream: the connection and the stream's index in its session.
    case stream(LinkID, Int)
  }
}
