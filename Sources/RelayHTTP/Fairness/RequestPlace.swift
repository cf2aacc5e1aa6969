import Hummingbird

/// A request's place among its caller's requests under way. The place is given back when the last
/// reference to it is gone.
final class RequestPlace: Sendable {
  private let giveBack: @Sendable () -> Void

  init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

  deinit { giveBack() }
}

extension Response {
  /// The same answer, whose body holds `place` and `room` until the whole body has left for the
  /// network, or the answer is dropped.
  func holding(_ place: RequestPlace, _ room: AnswerRoom? = nil) -> Response {
    var held = self
    let body = body
    held.body = ResponseBody(contentLength: body.contentLength) { writer in
      try await body.write(writer)
      withExtendedLifetime((place, room)) {}
    }
    return held
  }
}
