import HTTPTypes
import Hummingbird
import RelayCore
import RelayWire

/// Access to one scope: finds the caller of a request, or the reason to refuse the request.
struct ScopeAuthenticator: Sendable {
  let scope: Scope
  let access: ScopeAccess
  private var users: UserTokens?

  init(
    _ scope: Scope, _ access: ScopeAccess, keys: any TokenKeys, limits: HTTPLimits
  ) async {
    (self.scope, self.access) = (scope, access)
    if let users = access.users {
      self.users = await UserTokens(
        users, container: scope.container, keys: keys, countMax: limits.verifiedTokens)
    }
  }

  /// The element of `origins` that equals `origin`; `nil` means that no element does. Returns this
  /// element and not `origin`, so that fifty thousand courier connections share one string.
  func listed(_ origin: String) -> String? {
    access.origins.first { ByteOrdered.areSame($0, origin) }
  }

  /// The user on whose behalf a device sends this request.
  func user(of request: Request, at now: Instant) async throws(WireError) -> UserID {
    if !access.apiTokens.isEmpty {
      guard let token = PercentText.parameter("ckAPIToken", of: request.uri.query),
        SecretComparison.isAmong(access.apiTokens, token)
      else { throw WireError(.authenticationFailed, "ckAPIToken is missing or unknown") }
    }
    guard let token = try Self.userToken(of: request) else {
      throw WireError(
        .authenticationRequired,
        "no user token; send it as Authorization: Bearer, X-Apple-CloudKit-Web-Auth-Token or "
          + "ckWebAuthToken")
    }
    guard let users else { throw WireError(.authenticationFailed, "this environment has no users") }
    return try await users.user(of: token, at: now)
  }

  /// The producer of a request, as far as the header fields identify the producer. A signature is
  /// verified later, when the body has arrived.
  func producer(of request: Request, at now: Instant) throws(WireError) -> ProducerClaim {
    if let key = try Self.bearer(of: request) {
      var found: String?
      for producer in access.producers {
        if case .bearer(let own) = producer.proof, SecretComparison.isEqual(own, key) {
          found = producer.name
        }
      }
      guard let found else { throw WireError(.authenticationFailed, "unknown producer key") }
      return .known(found)
    }
    guard let signed = try SignedRequest(request, at: now) else {
      throw WireError(
        .authenticationFailed,
        "no producer key; send it as Authorization: Bearer, or sign the request "
          + "(X-Apple-CloudKit-Request-KeyID)")
    }
    for producer in access.producers {
      if case .signature(let id, let key) = producer.proof, ByteOrdered.areSame(id, signed.keyID) {
        return .signed(signed, key, producer.name)
      }
    }
    throw WireError(
      .authenticationFailed, "X-Apple-CloudKit-Request-KeyID names no producer of this environment")
  }

  /// How many fetches a second the producer can serve; 0 means that the producer declares no
  /// number.
  func fetchCapacity(of producer: String) -> Int {
    access.producers.first { $0.name == producer }?.fetchCapacity ?? 0
  }

  private static func userToken(of request: Request) throws(WireError) -> String? {
    if let token = try bearer(of: request) { return token }
    if let token = request.headers[.webAuthToken], !token.isEmpty { return token }
    return PercentText.parameter("ckWebAuthToken", of: request.uri.query)
  }

  private static func bearer(of request: Request) throws(WireError) -> String? {
    guard let field = request.headers[.authorization], !field.isEmpty else { return nil }
    // RFC 9110, 11.4: one or more blanks separate the scheme from the token.
    let parts = field.utf8.split(separator: UInt8(ascii: " "))
    guard parts.count == 2, Spelled(Substring(parts[0]).lowercased()) == "bearer" else {
      throw WireError(.authenticationFailed, "Authorization must be of the form: Bearer TOKEN")
    }
    return String(Substring(parts[1]))
  }
}

extension ScopeAuthenticator {
  /// The APNs topic that a request names, or this environment's only topic if the request names
  /// none.
  func topic(in body: JSONCursor) throws -> String {
    let topics = access.topics
    let known =
      topics.isEmpty
      ? "this environment has no APNs topic"
      : "configured here: \(topics.joined(separator: ", "))"
    guard let named = body.optional("apnsTopic") else {
      guard topics.count == 1 else {
        throw WireError(.badRequest, "apnsTopic is missing; \(known)")
      }
      return topics[0]
    }
    let topic = try named.string()
    guard topics.contains(topic) else { throw named.problem("'\(topic)' is unknown; \(known)") }
    return topic
  }
}

extension HTTPField.Name {
  static let webAuthToken = Self("X-Apple-CloudKit-Web-Auth-Token")!
}
