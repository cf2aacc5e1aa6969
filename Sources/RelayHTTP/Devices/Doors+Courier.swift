import Hummingbird
import RelayCore
import RelayEngine
import RelayWire
import ServiceLifecycle

extension Doors {
  func courierToken(for device: DeviceKey) -> String {
    let expires = clock.wall() + .seconds(limits.courierTokenSeconds)
    return SealedText.seal(
      [
        device.scope.container, device.scope.environment.name, device.user.name,
        device.client.text, "\(expires.milliseconds)",
      ], for: .courier, with: keys)
  }

  /// A courier's poll: held, then answered empty, which means "poll again". This version never has
  /// anything to say here; pushes go through the provider.
  func hold(_ token: String) async throws -> Response {
    guard let device = device(of: token), access.gate(to: device.scope) != nil else {
      throw WireError(
        .notFound, "this courier address is unknown or has expired; register again",
        status: .gone)
    }
    try await visible(.devices(device.scope, device.user))
    let rows = try await read { () async throws(StoreError) in
      try await reader.devices(client: device.client)
    }
    guard rows.contains(where: { $0.key == device }) else {
      throw WireError(.notFound, "this device is not registered any more", status: .gone)
    }
    guard holds.enter(max: limits.connections) else {
      throw WireError(.tryAgainLater, "too many polls are held", retryAfterSeconds: 5)
    }
    defer { holds.leave() }
    // Cut short when the daemon stops: an early empty answer is a good one.
    _ = try? await cancelWhenGracefulShutdown {
      try await Task.sleep(for: .seconds(limits.courierHoldSeconds))
    }
    return Response(status: .ok, headers: [.cacheControl: "no-store"])
  }

  private func device(of token: String) -> DeviceKey? {
    guard let texts = SealedText.open(token, for: .courier, count: 5, with: keys),
      let environment = Environment(name: texts[1]), let client = ClientID(text: texts[3]),
      let expires = Int64(texts[4]), clock.wall().milliseconds < expires
    else { return nil }
    return DeviceKey(
      scope: Scope(container: texts[0], environment: environment), user: UserID(texts[2]),
      client: client)
  }
}
