internal import Foundation

extension ZoneRelayClient {
  /// The wakes that the relay's own courier brings while the app runs, without any push provider.
  /// Give each to ``handle(_:_:)``. Register first, with any address.
  ///
  /// The stream outlasts failures of the network: it waits as the client does between requests. It
  /// ends when its reader stops, or when `wakes()` is called again, because the relay holds one
  /// connection a device. It throws when no user is signed in, or when the relay refuses the
  /// device. A slow reader gets the newest 64 wakes; what is left out shows as a gap in their
  /// numbers, and ``handle(_:_:)`` then fetches everything.
  public nonisolated func wakes() -> AsyncThrowingStream<Wake, any Error> {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(64)) { wakes in
      let task = Task { await self.readCourier(into: wakes) }
      wakes.onTermination = { _ in task.cancel() }
    }
  }

  private func readCourier(
    into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async {
    let reader = courier.newReader()
    var backoff = Backoff()
    while !Task.isCancelled, courier.isNewest(reader) {
      do {
        try await readOnce(into: wakes)
        backoff.succeeded()
      } catch let error as RelayError where !error.isPassing {
        return wakes.finish(throwing: error)
      } catch {
        // The network or the relay fails for a moment, or the task is cancelled.
        let asked = (error as? RelayError)?.retryAfter
        let wait = backoff.failed(at: clock.now, retryAfter: asked, chance: clock.chance)
        do { try await clock.sleep(for: wait) } catch { break }
      }
    }
    wakes.finish()
  }

  /// Reads wakes until the relay ends the answer.
  private func readOnce(
    into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async throws {
    guard let url = courier.url else {
      guard let push = courier.push else {
        throw RelayError(.signedOut, "no address is registered: call register first")
      }
      return try await register(push)
    }
    let status: Int
    if let streaming = transport as? any StreamingTransport {
      status = try await readStream(at: url, by: streaming, into: wakes)
    } else {
      let answer = try await transport.send(Self.poll(url))
      // The empty answer means: ask again.
      if answer.status == 200, let wake = Wake(json: answer.body) { wakes.yield(wake) }
      if answer.status == 429 || answer.status >= 500 {
        throw RelayError(.busy, answer.reason("courier"), retryAfter: answer.retryAfter)
      }
      status = answer.status
    }
    switch status {
    case 200: return
    case 410: courier.lapsed(url)
    case 429, 500...599: throw RelayError(.busy, "courier: \(status)")
    default: throw RelayError(.refused, "courier: \(status)")
    }
  }

  /// The relay answers a poll after 55 s at most.
  private static func poll(_ url: URL) -> RelayRequest {
    RelayRequest(method: "GET", url: url, timeout: .seconds(75), isHeld: true)
  }

  private func readStream(
    at url: URL, by transport: any StreamingTransport,
    into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async throws -> Int {
    var request = Self.poll(url)
    request.headers["Accept"] = "text/event-stream"
    // This header acknowledges, so it names only a wake that the app has handled.
    if state.lastWake > 0 { request.headers["Last-Event-ID"] = "\(state.lastWake)" }
    let answer = try await transport.open(request)
    guard answer.status == 200 else { return answer.status }
    var events = ServerSentEvents()
    for try await bytes in answer.bytes {
      for data in events.append(bytes) {
        if let wake = Wake(json: data) { wakes.yield(wake) }
      }
    }
    return 200
  }
}
