import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayEngine
import RelayWire

extension Doors {
  func courierToken(for device: DeviceKey) -> String {
    let expires = clock.wall() + .seconds(limits.courierTokenSeconds)
    return SealedText.seal(
      [
        device.scope.container, device.scope.environment.name, device.user.name,
        device.client.text, "\(expires.milliseconds)",
      ], for: .courier, with: keys)
  }

  func courierURL(for device: DeviceKey) -> String {
    "\(publicURL)/courier/1/\(courierToken(for: device))"
  }

  /// A courier's poll, held until there is a wake or nothing came for a while; or a stream.
  func hold(
    _ token: String, _ request: Request, from page: CrossOrigin?, on channel: any Channel
  ) async throws -> Response {
    guard let (device, expires) = device(of: token) else {
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
    let isHeld = try await HeldRequest.take(on: channel) { reader in
      let line = CourierLine(
        device: device, isStream: isStream, page: page, reader: reader, relay: relay,
        expires: ends)
      guard let serial = courier.open(line, after: after) else { return nil }
      line.begin(at: courier.date)
      return { courier.broke(serial) }
    }
    if isHeld == false, !courier.isDraining {
      throw WireError(.tryAgainLater, "too many couriers are connected", retryAfterSeconds: 5)
    }
    // A reload may have come since the address was read, and looked at the lines before this one.
    if access.gate(to: device.scope) == nil {
      courier.keep { access.gate(to: $0) != nil }
    }
    // Who holds it answers it. This is for who has left, and for who comes while the daemon stops:
    // the connection ends, and the next poll finds the next daemon.
    return Self.nothing
  }

  private func checkRegistered(_ device: DeviceKey) async throws(WireError) {
    let place = try fairness.begin(for: .user(device.scope, device.user))
    defer { withExtendedLifetime(place) {} }
    let until = patience
    try await visible(.devices(device.scope, device.user), until: until)
    let rows = try await read(for: .user(device.scope, device.user), until: until) {
      () async throws(StoreError) in
      try await reader.devices(client: device.client)
    }
    guard rows.contains(where: { $0.key == device }) else {
      throw WireError(.notFound, "this device is not registered any more", status: .gone)
    }
  }

  private static var nothing: Response {
    Response(status: .ok, headers: [.cacheControl: "no-store"])
  }

  /// The environment of an address, expired or not; nil: it is none of ours.
  func scope(ofCourier token: String) -> Scope? {
    guard let texts = SealedText.open(token, for: .courier, count: 5, with: keys) else {
      return nil
    }
    return Environment(name: texts[1]).map { Scope(container: texts[0], environment: $0) }
  }

  private func device(of token: String) -> (DeviceKey, expires: Instant)? {
    guard let texts = SealedText.open(token, for: .courier, count: 5, with: keys),
      let environment = Environment(name: texts[1]), let client = ClientID(text: texts[3]),
      let number = Int64(texts[4]), clock.wall().milliseconds < number,
      // The scope's own text, so that fifty thousand lines share one.
      let gate = access.gate(to: Scope(container: texts[0], environment: environment))
    else { return nil }
    let device = DeviceKey(scope: gate.scope, user: UserID(texts[2]), client: client)
    return (device, Instant(milliseconds: number))
  }
}

extension HTTPField.Name {
  static let lastEventID = Self("Last-Event-ID")!
}
