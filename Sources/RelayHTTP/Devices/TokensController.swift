import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `tokens/…`, about devices and their addresses, and `wakes/acknowledge`.
struct TokensController: Sendable {
  let feeds: FeedAccess
  let submissions: Submissions
  let relay: any RelayService
  let keys: any TokenKeys & IdentityKeys
  let courier: CourierAddresses
  let limits: HTTPLimits

  /// Answers `tokens/register`: registers a device and its address.
  func register(
    _ body: JSONCursor, _ caller: Caller, _ authenticator: ScopeAuthenticator
  ) async throws -> Response {
    let address = try address(in: body, authenticator)
    // Its devices count in no ledger, so no provider may be asked for them.
    guard caller.user != .doctor || address.transport == .courier else {
      throw WireError(
        .badRequest,
        "the user \(UserID.doctor.name) is the relay's own: its devices have the courier alone")
    }
    var client = try client(in: body, caller)
    if client == nil, address.transport == .courier {
      client = try await holder(of: address, caller)
    }
    let device = client ?? keys.clientID(forToken: address.token, scope: caller.scope)
    return try await register(address, for: device, caller)
  }

  private func register(
    _ address: Address, for client: ClientID, _ caller: Caller
  ) async throws -> Response {
    let registration = Registration(
      scope: caller.scope, user: caller.user, client: client, address: address)
    let answers = try await submissions.submit([.register(registration)], for: caller.id)
    if case .refused(let refusal) = answers.first { throw WireError(refusal) }
    var json = JSONWriter()
    json.beginObject()
    json.string("clientId", client.text)
    let device = DeviceKey(scope: caller.scope, user: caller.user, client: client)
    json.string("webcourierURL", courier.url(for: device))
    json.endObject()
    return Response(json)
  }

  /// The calling user's device that has this courier token.
  private func holder(of address: Address, _ caller: Caller) async throws -> ClientID? {
    try await feeds.visible(.devices(caller.scope, caller.user), until: caller.until)
    var last: ClientID?
    while true {
      let rows = try await rows(after: last, limit: limits.devicesListed, caller)
      if let row = rows.first(where: { $0.address.place == address }) { return row.key.client }
      guard rows.count == limits.devicesListed, let end = rows.last else { return nil }
      last = end.key.client
    }
  }

  /// The calling user's devices after `client`, ordered by client id, at most `limit`.
  private func rows(
    after client: ClientID?, limit: Int, _ caller: Caller
  ) async throws(WireError) -> [DeviceRow] {
    try await feeds.read(for: caller.id, until: caller.until) { () async throws(StoreError) in
      try await feeds.reader.devices(
        of: caller.user, in: caller.scope, after: client, limit: limit)
    }
  }

  /// Answers `tokens/create`: registers a device that has only the courier. The token in the answer
  /// identifies the device and gives access to nothing; the relay never sends it to a provider.
  func create(_ body: JSONCursor, _ caller: Caller) async throws -> Response {
    let environment = try environment(in: body)
    let client = try client(in: body, caller) ?? ClientID(RandomID.draw())
    let token = CreatedToken.draw(with: keys)
    let registration = Registration(
      scope: caller.scope, user: caller.user, client: client,
      address: Address(transport: .courier, topic: "", token: token))
    let answers = try await submissions.submit([.register(registration)], for: caller.id)
    if case .refused(let refusal) = answers.first { throw WireError(refusal) }
    var json = JSONWriter()
    json.beginObject()
    json.string("apnsEnvironment", environment.name)
    json.string("apnsToken", Hex.text(token))
    let device = DeviceKey(scope: caller.scope, user: caller.user, client: client)
    json.string("webcourierURL", courier.url(for: device))
    json.string("clientId", client.text)
    json.endObject()
    return Response(json)
  }

  /// Answers `tokens/unregister`, which an app sends when its user signs out. An unknown device is
  /// no error.
  func unregister(_ body: JSONCursor, _ caller: Caller) async throws -> Response {
    let device: Unregistration.Device
    if let token = body.optional("apnsToken") {
      device = .token(try pushToken(token))
    } else if let client = try client(in: body, caller) {
      device = .client(client)
    } else {
      throw WireError(.badRequest, "clientId or apnsToken is missing")
    }
    _ = try await submissions.submit(
      [
        .unregister(Unregistration(scope: caller.scope, user: caller.user, device: device))
      ], for: caller.id)
    return .emptyObject
  }

  /// Answers `tokens/list` with a page of the calling user's devices, ordered by client id. The
  /// marker of a page is the client id of its last device.
  ///
  /// - Parameter query: the request's query, for the marker of a GET.
  func devices(_ body: JSONCursor, query: String?, _ caller: Caller) async throws -> Response {
    let marker = try ListRequest.marker(body, query)
    let after = marker.flatMap { ClientID(text: $0) }
    guard marker == nil || after != nil else {
      throw WireError(.badRequest, "continuationMarker must be one that tokens/list gave")
    }
    try await feeds.visible(.devices(caller.scope, caller.user), until: caller.until)
    var rows = try await rows(after: after, limit: limits.devicesListed + 1, caller)
    let hasMore = rows.count > limits.devicesListed
    if hasMore { rows.removeLast() }
    var json = JSONWriter()
    json.beginObject()
    json.key("devices")
    json.beginArray()
    for row in rows {
      json.beginObject()
      json.string("clientId", row.key.client.text)
      json.string("transport", row.address.transport.name)
      if row.address.transport == .apns {
        json.string("apnsTopic", row.address.topic)
        let environment = row.address.environment ?? caller.scope.environment
        json.string("apnsEnvironment", environment.name)
      }
      json.string("state", row.lane.retirement == nil ? "active" : "retired")
      json.string("reason", ifAny: row.lane.retirement?.reason)
      json.integer("registeredAt", row.registeredAt.milliseconds)
      json.endObject()
    }
    json.endArray()
    if hasMore, let last = rows.last {
      json.boolean("moreComing", true)
      json.string("continuationMarker", last.key.client.text)
    }
    json.endObject()
    return Response(json)
  }

  /// Answers `wakes/acknowledge`. An unknown wake number is ignored.
  func acknowledge(_ body: JSONCursor, _ caller: Caller) throws -> Response {
    guard let client = try client(in: body, caller) else {
      throw WireError(.badRequest, "clientId is missing")
    }
    let wake = try body.required("w").integer()
    if let wake = UInt32(exactly: wake) {
      relay.acknowledged(
        wake: wake, by: DeviceKey(scope: caller.scope, user: caller.user, client: client))
    }
    return .emptyObject
  }

  /// The installation that a request is about. A `clientId` that is no UUID is an error.
  private func client(in body: JSONCursor, _ caller: Caller) throws(JSONProblem) -> ClientID? {
    guard let named = body.optional("clientId") else { return caller.client }
    guard let client = ClientID(text: try named.string()) else {
      throw named.problem("must be a UUID")
    }
    return client
  }

  private func address(in body: JSONCursor, _ authenticator: ScopeAuthenticator) throws -> Address {
    if let transport = body.optional("transport") {
      switch Spelled(try transport.string()) {
      case "apns": break
      case "fcm": return try firebaseAddress(in: body, authenticator)
      case "webpush": return try webAddress(in: body, authenticator)
      default: throw transport.problem("must be \"apns\", \"fcm\" or \"webpush\"")
      }
    }
    let environment = try environment(in: body)
    let token = try pushToken(body.required("apnsToken"))
    // A client of CloudKit registers with the token that it got from `tokens/create`.
    if CreatedToken.isOurs(token, with: keys) {
      return Address(transport: .courier, topic: "", token: token)
    }
    return Address(
      transport: .apns, topic: try authenticator.topic(in: body), token: token,
      environment: environment)
  }

  private func environment(in body: JSONCursor) throws(JSONProblem) -> RelayCore.Environment {
    let named = try body.required("apnsEnvironment")
    guard let environment = RelayCore.Environment(name: try named.string()) else {
      throw named.problem("must be \"development\" or \"production\"")
    }
    return environment
  }

  /// Reads a push token as hexadecimal text if possible, otherwise as base64. A text of only
  /// hexadecimal digits is never read as base64.
  private func pushToken(_ value: JSONCursor) throws(JSONProblem) -> [UInt8] {
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
}
