import Hummingbird
import NIOCore

/// Answers the metrics listener's requests.
struct MetricsResponder: RequestResponder {
  let admin: AdminAPI

  func respond(to request: Request, on channel: any Channel) async throws -> Response {
    guard request.uri.path == "/metrics" else {
      return WireError(.notFound, "there is nothing here but /metrics").response
    }
    return try await admin.respond(to: request, on: channel)
  }
}
