import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayEngine

/// Answers `/courier/1/…`: polls and streams.
struct CourierController: Sendable {
  let courier: Courier
  let store: StoreAccess
  let relay: any RelayService
  let addresses: CourierAddresses
  let access: ScopeRegistry
  let fairness: Fairness
  let clock: any ClockReader
  let limits: HTTPLimits

  /// Opens a stream, or holds a poll until there is a wake or the poll's time has passed.
  func hold(
    _ token: String, _ request: Request, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let (device, expires) = addresses.device(of: token, in: access) else {
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
    // If the courier holds the request, the courier answers it, and the connection drops the answer
    // below. The courier does not hold a request if the client has closed its side of the
    // connection, or if the daemon stops. Then the connection sends the answer below.
    return Self.nothing
  }

  private func checkRegistered(_ device: DeviceKey) async throws {
    let caller = CallerID.user(device.scope, device.user)
    let place = try fairness.begin(for: caller)
    defer { withExtendedLifetime(place) {} }
    let until = store.patience
    try await store.visible([.devices(device.scope, device.user)], until: until)
    let rows = try await store.read(for: caller, until: until) {
      try await store.reader.devices(client: device.client)
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
