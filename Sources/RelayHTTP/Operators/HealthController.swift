import Hummingbird
import RelayEngine
import RelayWire

/// Answers `/health/live` and `/health/ready`.
struct HealthController: Sendable {
  let relay: any RelayService

  /// The answer of `/health/live`. It is always the same and shows only that the process answers.
  func live() -> Response {
    var json = JSONWriter()
    json.beginObject()
    json.boolean("live", true)
    json.endObject()
    return Response(json)
  }

  /// The answer of `/health/ready`: whether requests are served, and why not. `status` reports all
  /// other problems.
  func ready() -> Response {
    let readiness = relay.readiness
    var json = JSONWriter()
    json.beginObject()
    json.boolean("ready", readiness.isReady)
    json.strings("reasons", readiness.reasons)
    let error = WireError(
      .tryAgainLater, "not ready: \(readiness.reasons.joined(separator: "; "))",
      retryAfterSeconds: 1)
    if !readiness.isReady { error.write(into: &json) }
    json.endObject()
    return readiness.isReady ? Response(json) : error.response(json)
  }
}
