import Hummingbird
import RelayEngine
import RelayWire

extension Doors {
  /// The process answers: that is all it says.
  func live() -> Response {
    var json = JSONWriter()
    json.beginObject()
    json.boolean("live", true)
    json.endObject()
    return Response(json)
  }

  /// Whether requests are served, or why not.
  func ready() async -> Response {
    let vitals = await relay.vitals()
    var json = JSONWriter()
    json.beginObject()
    json.boolean("ready", vitals.isReady)
    let reasons =
      vitals.isReady || !vitals.reasons.isEmpty ? vitals.reasons : ["recovery is not over yet"]
    json.strings("reasons", reasons)
    let error = WireError(
      .tryAgainLater, "not ready: \(reasons.joined(separator: "; "))", retryAfterSeconds: 1)
    if !vitals.isReady { error.write(into: &json) }
    json.endObject()
    return vitals.isReady ? Response(json) : error.response(json)
  }
}
