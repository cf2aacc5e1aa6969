import Foundation
import RelayCurl

/// A client of the daemon: a phone, a producer, or an operator with curl.
struct Web: Sendable {
  struct Answer: Sendable {
    var status: Int
    var json: JSON
  }

  var base: String
  var client = HTTPClient()

  func post(
    _ path: String, _ body: Any, token: String? = nil, contentType: String = "application/json"
  ) async throws -> Answer {
    let data = try JSONSerialization.data(withJSONObject: body)
    return try await send("POST", path, [UInt8](data), token: token, contentType: contentType)
  }

  func send(
    _ method: String, _ path: String, _ body: [UInt8], token: String? = nil,
    contentType: String = "application/json"
  ) async throws -> Answer {
    var headers = [(name: "Content-Type", value: contentType)]
    if let token { headers.append((name: "Authorization", value: "Bearer \(token)")) }
    let answer = try await client.send(
      HTTPRequest(method, base + path, headers: headers, body: body, timeout: .seconds(30)))
    return Answer(status: answer.status, json: JSON(data: Data(answer.body)))
  }
}
