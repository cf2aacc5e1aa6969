import RelayEngine

/// One request on its way through the engine.
struct Delivery {
  /// The request's number. Each admitted request gets the next higher one.
  let number: UInt64
  let request: Request
  /// Says whether the request may still be sent. `nil` means that the caller never takes the
  /// request back.
  let handover: Handover?
  let answer: @Sendable (Outcome) -> Void
  /// A request put on a stream after this time would hardly be answered in time.
  let sendBy: Uptime
  var place = Place.waiting
  var resends = 0

  enum Place: Equatable {
    case waiting
    /// The request is on a stream: the connection, and the stream's index in the connection's
    /// session.
    case stream(LinkID, Int)
  }
}
