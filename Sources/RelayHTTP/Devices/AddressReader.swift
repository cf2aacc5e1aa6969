import Crypto
import Foundation
import RelayCore
import RelayWire

/// Reads the addresses of devices.
struct AddressReader {
  let limits: HTTPLimits
  let keys: any TokenKeys

  func address(of request: DeviceRequest) throws -> Address {
    let (body, authenticator) = (request.body, request.authenticator)
    if let transport = body.optional("transport") {
      switch Spelled(try transport.string()) {
      case "apns": break
      case "fcm": return try firebaseAddress(in: body, authenticator.access)
      case "webpush": return try webAddress(in: body, authenticator.access)
      default: throw transport.problem("must be \"apns\", \"fcm\" or \"webpush\"")
      }
    }
    let environment = try body.required("apnsEnvironment").environment()
    let token = try pushToken(body.required("apnsToken"))
    // A client made for CloudKit may register with the token that `tokens/create` gave it. Such a
    // device has only the courier.
    if CreatedToken.isOurs(token, with: keys) { return .courier(token) }
    return Address(
      transport: .apns, topic: try authenticator.topic(in: body), token: token,
      environment: environment)
  }

  /// Reads a push token as hexadecimal text if possible, otherwise as base64. A text of only
  /// hexadecimal digits is never read as base64.
  func pushToken(_ value: JSONCursor) throws(JSONProblem) -> [UInt8] {
    let text = try value.string()
    // An odd number of hexadecimal digits is an incomplete token, and is refused.
    let isHexadecimal = text.utf8.allSatisfy { Hex.isDigit($0) }
    guard let token = Hex.bytes(text) ?? (isHexadecimal ? nil : Base64.bytes(text)), !token.isEmpty
    else {
      throw value.problem("must be hexadecimal or base64")
    }
    guard token.count <= limits.pushTokenBytes else {
      throw value.problem("has more than \(limits.pushTokenBytes) bytes")
    }
    return token
  }

  /// Reads an address of FCM: `{transport: "fcm", token}`.
  private func firebaseAddress(in body: JSONCursor, _ access: ScopeAccess) throws -> Address {
    guard let project = access.firebaseProject else {
      throw WireError(.badRequest, "transport 'fcm' is not configured in this environment")
    }
    let value = try body.required("token")
    let token = try value.string()
    guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw value.problem("must be printable ASCII without blanks")
    }
    guard token.utf8.count <= limits.pushTokenBytes else {
      throw value.problem("has more than \(limits.pushTokenBytes) bytes")
    }
    return Address(transport: .fcm, topic: project, token: Array(token.utf8))
  }

  /// Reads an address of Web Push: `{transport: "webpush", subscription: {endpoint, keys: {p256dh,
  /// auth}}}`. The subscription is what a browser's `PushSubscription.toJSON()` returns.
  private func webAddress(in body: JSONCursor, _ access: ScopeAccess) throws -> Address {
    guard let webPush = access.webPush else {
      throw WireError(.badRequest, "transport 'webpush' is not configured in this environment")
    }
    let subscription = try body.required("subscription")
    let endpoint = try endpoint(subscription.required("endpoint"), webPush)
    let keys = try subscription.required("keys")
    let publicKey = try keys.required("p256dh")
    guard let point = Base64.bytes(try publicKey.string()),
      point.count == WebSubscription.publicKeyBytes,
      // The error does not matter: if it is thrown, the bytes are no key.
      (try? P256.KeyAgreement.PublicKey(x963Representation: point)) != nil
    else { throw publicKey.problem("must be an uncompressed point of P-256 in base64url") }
    let auth = try keys.required("auth")
    guard let secret = Base64.bytes(try auth.string()), secret.count == WebSubscription.secretBytes
    else { throw auth.problem("must be \(WebSubscription.secretBytes) bytes in base64url") }
    let token = WebSubscription(endpoint: endpoint, publicKey: point, secret: secret).token
    return Address(transport: .webpush, topic: "", token: token)
  }

  private func endpoint(
    _ value: JSONCursor, _ webPush: ScopeAccess.WebPush
  ) throws(JSONProblem) -> String {
    let text = try value.string()
    guard text.utf8.count <= limits.endpointBytes else {
      throw value.problem("has more than \(limits.endpointBytes) bytes")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
      let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
      let host = url.host, !host.isEmpty, url.user == nil, url.password == nil,
      url.fragment == nil, url.port.map({ (1...65_535).contains($0) }) ?? true
    else { throw value.problem("must be an absolute URL") }
    if webPush.allowsPrivateAddresses, scheme == "http" { return text }
    guard scheme == "https" else { throw value.problem("must begin with https://") }
    // This check only gives an early error. The relay checks the addresses of a host name when it
    // resolves the name, before each connection.
    if !webPush.allowsPrivateAddresses, Self.isPrivate(host: host) {
      throw value.problem("must not be at a private address")
    }
    return text
  }

  /// True for an address that is not public, in any spelling that the resolver accepts, and for the
  /// names `localhost` and `*.localhost`.
  private static func isPrivate(host: String) -> Bool {
    let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    let address =
      bytes(of: in_addr.self) { inet_aton(bare, $0) != 0 }
      ?? bytes(of: in6_addr.self) { inet_pton(AF_INET6, bare, $0) == 1 }
    if let address { return !InternetAddress.isPublic(address) }
    return bare.lowercased() == "localhost" || bare.lowercased().hasSuffix(".localhost")
  }

  /// The bytes that `resolve` writes into a C address; nil if `resolve` returns false.
  private static func bytes<Address>(
    of type: Address.Type, _ resolve: (UnsafeMutablePointer<Address>) -> Bool
  ) -> [UInt8]? {
    withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let address = room.baseAddress, resolve(address) else { return nil }
      return Array(UnsafeRawBufferPointer(room))
    }
  }
}
