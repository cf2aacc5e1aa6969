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
    var hasLapsed = false
    while !Task.isCancelled, courier.isNewest(reader) {
      do {
        let start = clock.now
        switch try await readOnce(into: wakes) {
        case .registered: continue
        case .lapsed where !hasLapsed:
          hasLapsed = true
          continue
        case .wake: break
        case .silence where clock.now - start >= Self.shortestSilence: break
        case .lapsed, .silence:
          throw RelayError(.busy, "courier: the answer came at once and brought no wake")
        }
        hasLapsed = false
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

  /// What became of one answer of the courier.
  private enum CourierAnswer {
    case wake
    /// No wake came.
    case silence
    /// The relay does not know the address any more.
    case lapsed
    /// There is a new address now.
    case registered
  }

  /// An answer without a wake that comes sooner is a failure: without a pause before the next
  /// question, a stopping relay or a page of a network that asks for a sign-in would be a storm.
  private static let shortestSilence = Duration.seconds(1)

  /// Reads wakes until the relay ends the answer.
  private func readOnce(
    into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async throws -> CourierAnswer {
    guard let url = courier.url else {
      try await registerAgain()
      return .registered
    }
    let (answer, hasWake): (RelayAnswer, Bool)
    if let streaming = transport as? any StreamingTransport {
      (answer, hasWake) = try await readStream(at: url, by: streaming, into: wakes)
    } else {
      answer = try await transport.send(Self.poll(url))
      // The empty answer means: ask again.
      let wake = answer.status == 200 ? Wake(json: answer.body) : nil
      if let wake { wakes.yield(wake) }
      hasWake = wake != nil
    }
    switch answer.status {
    case 200: return hasWake ? .wake : .silence
    case 410:
      courier.lapsed(url)
      return .lapsed
    case 408, 429, 500...599:
      throw RelayError(
        .busy, answer.reason("courier"), retryAfter: answer.retryAfter(at: clock.date))
    case 300...399: throw RelayError(.badAnswer, answer.reason("courier"))
    default: throw RelayError(.refused, answer.reason("courier"))
    }
  }

  /// The app may register a newer address while this waits for its turn, or sign out.
  private func registerAgain() async throws {
    try await perform { client in
      guard client.courier.url == nil else { return }
      guard let push = client.courier.push else {
        throw RelayError(.signedOut, "no address is registered: call register first")
      }
      try await client.registerNow(push)
    }
  }

  /// The relay answers a poll after 55 s at most.
  private static func poll(_ url: URL) -> RelayRequest {
    RelayRequest(method: "GET", url: url, timeout: .seconds(75), isHeld: true)
  }

  /// - Returns: the answer's head, and whether a wake came.
  private func readStream(
    at url: URL, by transport: any StreamingTransport,
    into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async throws -> (RelayAnswer, Bool) {
    var request = Self.poll(url)
    request.headers["Accept"] = "text/event-stream"
    // This header acknowledges, so it names only a wake that the app has handled.
    let handled = courier.handledWake
    if handled > 0 { request.headers["Last-Event-ID"] = "\(handled)" }
    let answer = try await transport.open(request)
    let head = RelayAnswer(status: answer.status, headers: answer.headers)
    guard head.status == 200 else { return (head, false) }
    var events = ServerSentEvents()
    var hasWake = false
    for try await bytes in answer.bytes {
      for data in events.append(bytes) {
        guard let wake = Wake(json: data) else { continue }
        wakes.yield(wake)
        hasWake = true
      }
    }
    return (head, hasWake)
  }
}
