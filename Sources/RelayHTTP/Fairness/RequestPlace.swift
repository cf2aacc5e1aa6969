import Hummingbird

/// A request's place among those of its caller that are under way.
final class RequestPlace: Sendable {
  private let giveBack: @Sendable () -> Void

  init(giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

  deinit { giveBack() }
}

extension Response {
  /// The same answer. It holds the place, and the room of its bytes, until it has left for the
  /// network, or never will.
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
