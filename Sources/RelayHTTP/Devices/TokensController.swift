import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// Answers `tokens/…`, about devices and their addresses, and `wakes/acknowledge`.
struct TokensController: Sendable {
  let store: StoreAccess
  let submissions: Submissions
  let relay: any RelayService
  let keys: any TokenKeys & IdentityKeys
  let courier: CourierAddresses
  let limits: HTTPLimits

  /// Answers `tokens/register`: registers a device and its address.
  func register(_ request: DeviceRequest) async throws -> Response {
    let address = try AddressReader(limits: limits, keys: keys).address(of: request)
    // The devices of the doctor's user do not count in the ledger, so the relay may send them
    // nothing through a provider.
    guard request.user != .doctor || address.transport == .courier else {
      throw WireError(
        .badRequest,
        "the user \(UserID.doctor.name) is the relay's own: its devices have the courier alone")
    }
    var client = try request.named
    if client == nil, address.transport == .courier {
      client = try await holder(of: address, request)
    }
    let device = request.key(
      of: client ?? keys.clientID(forToken: address.token, scope: request.scope))
    try await register(address, for: device, request)
    return Response(
      .object { json in
        json.string("clientId", device.client.text)
        json.string("webcourierURL", courier.url(for: device))
      })
  }

  /// Answers `tokens/create`: registers a device that has only the courier. The token in the answer
  /// identifies the device and gives access to nothing; the relay never sends it to a provider.
  func create(_ request: DeviceRequest) async throws -> Response {
    let environment = try request.body.required("apnsEnvironment").environment()
    let device = request.key(of: try request.named ?? ClientID(RandomID.draw()))
    let token = CreatedToken.draw(with: keys)
    try await register(.courier(token), for: device, request)
    return Response(
      .object { json in
        json.string("apnsEnvironment", environment.name)
        json.string("apnsToken", Hex.text(token))
        json.string("webcourierURL", courier.url(for: device))
        json.string("clientId", device.client.text)
      })
  }

  private func register(
    _ address: Address, for device: DeviceKey, _ request: DeviceRequest
  ) async throws {
    let registration = Registration(
      scope: device.scope, user: device.user, client: device.client, address: address)
    try await submissions.submit(.register(registration), request)
  }

  /// The calling user's device that has this courier token.
  private func holder(of address: Address, _ request: DeviceRequest) async throws -> ClientID? {
    try await store.visible([.devices(request.scope, request.user)], until: request.until)
    var last: ClientID?
    while true {
      let rows = try await rows(after: last, limit: limits.devicesListed, request)
      if let row = rows.first(where: { $0.address.place == address }) { return row.key.client }
      guard rows.count == limits.devicesListed, let end = rows.last else { return nil }
      last = end.key.client
    }
  }

  /// The calling user's devices after `client`, ordered by client id, at most `limit`.
  private func rows(
    after client: ClientID?, limit: Int, _ request: DeviceRequest
  ) async throws -> [DeviceRow] {
    try await store.read(request) {
      try await store.reader.devices(
        of: request.user, in: request.scope, after: client, limit: limit)
    }
  }

  /// Answers `tokens/unregister`, which an app sends when its user signs out. A request that names
  /// an installation means this installation, whatever device has the token beside it: the token
  /// may be an old one. An unknown device is no error.
  func unregister(_ request: DeviceRequest) async throws -> Response {
    let client = try request.named
    // The relay refuses a token that no device can have, even if a `clientId` stands beside it.
    let token = try request.body.optional("apnsToken").map {
      try AddressReader(limits: limits, keys: keys).pushToken($0)
    }
    let named = client.map(Unregistration.Device.client) ?? token.map(Unregistration.Device.token)
    guard let device = named else {
      throw WireError(.badRequest, "clientId or apnsToken is missing")
    }
    try await submissions.submit(
      .unregister(Unregistration(scope: request.scope, user: request.user, device: device)), request
    )
    return .emptyObject
  }

  /// Answers `tokens/list` with a page of the calling user's devices, ordered by client id. The
  /// marker of a page is the client id of its last device.
  func list(_ request: DeviceRequest) async throws -> Response {
    let marker = try QueryParameters.marker(request)
    let after = marker.flatMap { ClientID(text: $0) }
    guard marker == nil || after != nil else {
      throw WireError(.badRequest, "continuationMarker must be one that tokens/list gave")
    }
    try await store.visible([.devices(request.scope, request.user)], until: request.until)
    var rows = try await rows(after: after, limit: limits.devicesListed + 1, request)
    let hasMore = rows.count > limits.devicesListed
    if hasMore { rows.removeLast() }
    return Response(
      .object { json in
        json.objects("devices", rows) { json, row in
          json.string("clientId", row.key.client.text)
          json.string("transport", row.address.transport.name)
          if row.address.transport == .apns {
            json.string("apnsTopic", row.address.topic)
            let environment = row.address.environment ?? request.scope.environment
            json.string("apnsEnvironment", environment.name)
          }
          json.string("state", row.lane.retirement == nil ? "active" : "retired")
          json.string("reason", ifAny: row.lane.retirement?.reason)
          json.integer("registeredAt", row.registeredAt.milliseconds)
        }
        if hasMore, let last = rows.last {
          json.boolean("moreComing", true)
          json.string("continuationMarker", last.key.client.text)
        }
      })
  }

  /// Answers `wakes/acknowledge`. An unknown wake number is ignored.
  func acknowledge(_ request: DeviceRequest) throws -> Response {
    guard let client = try request.named else {
      throw WireError(.badRequest, "clientId is missing")
    }
    if let wake = UInt32(exactly: try request.body.required("w").integer()) {
      relay.acknowledged(wake: wake, by: request.key(of: client))
    }
    return .emptyObject
  }
}

extension DeviceRequest {
  /// The installation that a request of `tokens/…` or `wakes/acknowledge` names: `clientId` in the
  /// body, or otherwise in the query.
  fileprivate var named: ClientID? {
    get throws(JSONProblem) { try body.optional("clientId")?.clientID() ?? client }
  }
}

extension Address {
  /// The address of a device that has only the courier.
  static func courier(_ token: [UInt8]) -> Address {
    Address(transport: .courier, topic: "", token: token)
  }
}
