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
    _ token: String, _ request: Request, on channel: any Channel
  ) async throws -> Response {
    guard let (device, expires) = device(of: token) else {
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
    guard limits.courierHoldSeconds > 0 else { return Self.nothing }
    let isStream = request.headers[values: .accept].contains {
      $0.lowercased().contains("text/event-stream")
    }
    let line = CourierLine(
      device: device, isStream: isStream, channel: channel, relay: relay,
      expires: courier.tick(in: (expires - clock.wall()).milliseconds / 1_000))
    let after = isStream ? request.headers[.lastEventID].flatMap { UInt32($0) } : nil
    guard let serial = courier.open(line, after: after) else {
      throw WireError(.tryAgainLater, "too many couriers are connected", retryAfterSeconds: 5)
    }
    let courier = courier
    CourierWatch.watch(channel) { courier.broke(serial) }
    return isStream ? stream(serial, on: channel) : await poll(serial, on: channel)
  }

  private static var nothing: Response {
    Response(status: .ok, headers: [.cacheControl: "no-store"])
  }

  private func poll(_ serial: UInt64, on channel: any Channel) async -> Response {
    let call = await courier.next(serial)
    guard case .letter(let letter) = call else { return Self.nothing }
    let courier = courier
    let body = ResponseBody(contentLength: letter.payload.count) { writer in
      CourierWatch.expect(on: channel) { courier.written(serial) }
      try await writer.write(ByteBuffer(bytes: letter.payload))
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.cacheControl: "no-store", .contentType: "application/json"],
      body: body)
  }

  /// A slow reader keeps its one answer, and is given up when it does not read it.
  private func stream(_ serial: UInt64, on channel: any Channel) -> Response {
    let courier = courier
    // Little is kept for a reader that does not read; a channel without a socket needs none.
    channel.setOption(.socketOption(.so_sndbuf), value: 16_384).whenComplete { _ in }
    let body = ResponseBody { writer in
      try await writer.write(ByteBuffer(string: ": zonerelay\n\n"))
      while true {
        switch await courier.next(serial) {
        case .letter(let letter):
          var event = ByteBuffer(string: "id: \(letter.wake)\ndata: ")
          event.writeBytes(letter.payload)
          event.writeStaticString("\n\n")
          CourierWatch.expect(on: channel) { courier.written(serial) }
          try await writer.write(event)
        case .beat:
          try await writer.write(ByteBuffer(string: ":\n\n"))
        case .empty, .broken:
          return try await writer.finish(nil)
        }
      }
    }
    return Response(
      status: .ok, headers: [.cacheControl: "no-store", .contentType: "text/event-stream"],
      body: body)
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
