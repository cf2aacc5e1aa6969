import Crypto
import Foundation
import RelayCore
import RelayCurl
import RelayWire

/// Sends the requests of the doctor's walk to the daemon: as a device, a producer and an operator.
struct WalkWeb: Sendable {
  let address: DaemonAddress
  let scene: WalkScene
  let control: ControlClient
  let client: HTTPClient
  /// The token of the doctor's user.
  let token: String
  /// `server.publicURL` if a relay answers there.
  var publicURL: String?

  init(_ address: DaemonAddress, _ scene: WalkScene, control: ControlClient, client: HTTPClient)
    async throws
  {
    (self.address, self.scene, self.control, self.client) = (address, scene, control, client)
    switch scene.user {
    case .token(let text): token = text
    case .secret(let secret, let issuer):
      token = try await SignedUserToken.sign(
        user: UserID.doctor.name, container: scene.scope.container, issuer: issuer,
        secret: secret.bytes)
    }
  }

  /// - Parameters:
  ///   - courier: the address at the courier that the relay gave the device.
  ///   - timeout: the longest time until the answer.
  func ask(
    _ request: WalkRequest, _ names: WalkNames, courier: String = "", within timeout: Duration
  ) async -> WalkAnswer {
    await answer {
      let answer =
        request == .confirm
        ? try await control.get("/devices?client=\(names.client)")
        : try await client.send(try http(request, names, courier: courier, within: timeout))
      // A poll that ends without a wake has no body.
      let body = answer.body.isEmpty ? LooseJSON(nil) : try LooseJSON(body: answer.body)
      return .answered(status: answer.status, body)
    }
  }

  /// Asks for the doctor's devices at `server.publicURL`. If the answer names the new device, which
  /// only this relay knows, that URL leads to this relay.
  ///
  /// - Returns: nil if no relay is known to answer at `server.publicURL`.
  func askInPublic(_ names: WalkNames, within timeout: Duration) async -> WalkAnswer? {
    guard let publicURL else { return nil }
    return await answer {
      let own = try http(.list, names, courier: "", within: timeout)
      var request = HTTPRequest(
        own.method, publicURL + own.url.dropFirst(address.base.count), timeout: timeout)
      (request.headers, request.body) = (own.headers, own.body)
      let answer = try await client.send(request)
      return .answered(status: answer.status, try LooseJSON(body: answer.body))
    }
  }

  private func answer(_ ask: () async throws -> WalkAnswer) async -> WalkAnswer {
    do {
      return try await ask()
    } catch let error as ClientError {
      return .unanswered(error.message)
    } catch {
      return .unanswered("the answer is no JSON")
    }
  }

  private func http(
    _ request: WalkRequest, _ names: WalkNames, courier: String, within timeout: Duration
  ) throws -> HTTPRequest {
    // Cannot fail: API tokens are printable ASCII, which can always be percent-encoded.
    let apiToken = scene.apiToken?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    let device = "clientId=\(names.client)" + (apiToken.map { "&ckAPIToken=\($0)" } ?? "")
    guard let (target, body) = names.call(request, in: scene.scope, query: device) else {
      // The courier's address has the relay's public host; the doctor asks the daemon past any
      // proxy.
      let place = courier.range(of: "/courier/").map { courier[$0.lowerBound...] } ?? ""
      return address.request("GET", String(place), timeout: timeout)
    }
    var made = address.request("POST", target, timeout: timeout)
    made.body = try [UInt8](JSONSerialization.data(withJSONObject: body))
    let isEvent = request == .post || request == .endZone
    made.headers = isEvent ? try producer(target, made.body) : [bearer(token)]
    if isEvent {
      made.headers.append((name: "Content-Type", value: "application/cloudevents-batch+json"))
    }
    return made
  }

  private func bearer(_ text: String) -> (name: String, value: String) {
    (name: "Authorization", value: "Bearer \(text)")
  }

  private func producer(
    _ path: String, _ body: [UInt8]
  ) throws -> [(name: String, value: String)] {
    switch scene.producer {
    case .bearer(let key): return [bearer(key.text)]
    case .signature(let keyID, let key):
      let date = Date().formatted(.iso8601)
      let digest = Data(SHA256.hash(data: body)).base64EncodedString()
      let signature = try key.signature(for: Data("\(date):\(digest):\(path)".utf8))
      return [
        (name: "X-Apple-CloudKit-Request-KeyID", value: keyID),
        (name: "X-Apple-CloudKit-Request-ISO8601Date", value: date),
        (
          name: "X-Apple-CloudKit-Request-SignatureV1",
          value: signature.derRepresentation.base64EncodedString()
        ),
      ]
    }
  }
}
