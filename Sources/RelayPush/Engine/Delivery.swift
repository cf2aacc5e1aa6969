/// One request on its way through the engine.
struct Delivery {
  /// Rises with each request admitted.
  let number: UInt64
  let request: Request
  let answer: @Sendable (Outcome) -> Void
  var place = Place.waiting
  var resends = 0

  enum Place: Equatable {
    case waiting
    /// On a connection, at this place of its session.
    case stream(LinkID, Int)
  }
}
