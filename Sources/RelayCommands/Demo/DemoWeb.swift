import Foundation
import RelayCurl

/// The client side of the HTTP contract for the demo: the requests of a phone and a record server.
struct DemoWeb: Sendable {
  let place: DemoPlace
  let client = HTTPClient()
  private let scope = "\(DemoPlace.container)/development"

  var base: String { "http://127.0.0.1:\(place.apiPort)" }

  /// Returns when the relay serves; throws the relay's messages if it ends instead.
  func untilReady(_ relay: DemoProcess) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      guard relay.isRunning else { throw relay.ended }
      do {
        let answer = try await client.send(HTTPRequest("GET", base + "/health/ready"))
        if answer.status == 200 { return }
      } catch {
        // The relay does not listen yet: try again.
      }
      try await Task.sleep(for: .milliseconds(30))
    }
    throw Failure(.failed, "the relay was not ready within a minute: \(relay.talk)")
  }

  func device(_ call: String, _ body: [String: Any], _ phone: DemoPhone) async throws -> LooseJSON {
    try await post("/device/1/\(scope)/\(call)?clientId=\(phone.client)", body, phone.token)
  }

  func database(_ call: String, _ body: [String: Any], _ phone: DemoPhone) async throws
    -> LooseJSON
  {
    try await post(
      "/database/1/\(scope)/private/\(call)?clientId=\(phone.client)", body, phone.token)
  }

  func report(_ events: [[String: Any]]) async throws -> LooseJSON {
    try await post(
      "/events/1/\(scope)", events, place.producerKey,
      contentType: "application/cloudevents-batch+json")
  }

  private func post(
    _ path: String, _ body: Any, _ bearer: String, contentType: String = "application/json"
  ) async throws -> LooseJSON {
    let data = try JSONSerialization.data(withJSONObject: body)
    let answer = try await client.send(
      HTTPRequest(
        "POST", base + path,
        headers: [
          (name: "Content-Type", value: contentType),
          (name: "Authorization", value: "Bearer \(bearer)"),
        ], body: [UInt8](data)))
    guard answer.isSuccess else {
      throw Failure(.failed, "\(path) answered \(answer.status): \(answer.text)")
    }
    return try LooseJSON(body: answer.body)
  }
}

/// One of the user's devices.
struct DemoPhone: Sendable {
  let name: String
  let client = UUID().uuidString.lowercased()
  let pushToken: String
  let token: String
}
