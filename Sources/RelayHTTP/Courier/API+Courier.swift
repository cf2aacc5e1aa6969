import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayEngine

/// Answers `/courier/1/…`: polls and streams.
extension API {
  /// Opens a stream, or holds a poll until there is a wake or the poll's time has passed.
  func hold(
    _ token: String, _ request: Request, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let (device, expires) = courierAddresses.device(of: token, in: access) else {
      throw WireError(
        .notFound, "this courier address is unknown or has expired; register again",
        status: .gone)
    }
    try await checkRegistered(device)
    guard limits.courierHoldSeconds > 0 else { return Self.nothing }
    let isStream = request.headers[values: .accept].contains {
      $0.lowercased().contains("text/event-stream")
    }
    let after = isStream ? request.headers[.lastEventID].flatMap { UInt32($0) } : nil
    let ends = courier.tick(in: (expires - clock.wall()).milliseconds / 1_000)
    let (courier, relay) = (courier, relay)
    let isHeld = try await DetachedResponse.take(on: channel) { reader in
      let connection = CourierConnection(
        device: device, isStream: isStream, page: page, reader: reader, relay: relay,
        expires: ends)
      guard let serial = courier.open(connection, after: after) else { return nil }
      connection.begin(at: courier.date)
      return { courier.broke(serial) }
    }
    if isHeld == false, !courier.isDraining {
      throw WireError(.tryAgainLater, "too many couriers are connected", retryAfterSeconds: 5)
    }
    // A reload may have happened after the address was read, and may have ended the connections of
    // removed environments before this connection was opened.
    if access.authenticator(of: device.scope) == nil {
      courier.keep { access.authenticator(of: $0) != nil }
    }
    // If the courier holds the request, the courier answers it, and this answer is dropped. This
    // answer is sent to a client that sends no more, and to every client while the daemon stops.
    return Self.nothing
  }

  private func checkRegistered(_ device: DeviceKey) async throws {
    let caller = CallerID.user(device.scope, device.user)
    let place = try fairness.begin(for: caller)
    defer { withExtendedLifetime(place) {} }
    let until = patience
    try await relay.visible([.devices(device.scope, device.user)], until: until)
    let rows = try await read(for: caller, until: until) {
      try await reader.devices(client: device.client)
    }
    guard rows.contains(where: { $0.key == device }) else {
      throw WireError(.notFound, "this device is not registered any more", status: .gone)
    }
  }

  private static var nothing: Response {
    Response(status: .ok, headers: [.cacheControl: "no-store"])
  }
}

extension HTTPField.Name {
  static let lastEventID = Self("Last-Event-ID")!
}

/// Makes and reads courier addresses. An address is sealed, so that it gives access to the wakes of
/// one device only.
struct CourierAddresses: Sendable {
  let keys: any TokenKeys
  let clock: any ClockReader
  let publicURL: String
  let limits: HTTPLimits

  func url(for device: DeviceKey) -> String {
    let expires = clock.wall() + .seconds(limits.courierTokenSeconds)
    let token = SealedText.seal(
      [
        device.scope.container, device.scope.environment.name, device.user.name,
        device.client.text, "\(expires.milliseconds)",
      ], for: .courier, with: keys)
    return "\(publicURL)/courier/1/\(token)"
  }

  /// The scope of an address, even if the address has expired; `nil` means that the relay did not
  /// make the address.
  func scope(of token: String) -> Scope? {
    SealedText.open(token, for: .courier, count: 5, with: keys).flatMap { texts in
      RelayCore.Environment(name: texts[1]).map { Scope(container: texts[0], environment: $0) }
    }
  }

  /// The device of an address, and when the address expires; `nil` means that the address is
  /// unknown or has expired, or that its scope is not configured.
  func device(of token: String, in access: ScopeRegistry) -> (DeviceKey, expires: Instant)? {
    guard let texts = SealedText.open(token, for: .courier, count: 5, with: keys),
      let environment = Environment(name: texts[1]), let client = ClientID(text: texts[3]),
      let number = Int64(texts[4]), clock.wall().milliseconds < number,
      // The device gets the authenticator's own scope, so that fifty thousand connections share the
      // text of one scope.
      let authenticator = access.authenticator(
        of: Scope(container: texts[0], environment: environment))
    else { return nil }
    let device = DeviceKey(scope: authenticator.scope, user: UserID(texts[2]), client: client)
    return (device, Instant(milliseconds: number))
  }
}
