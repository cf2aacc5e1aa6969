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
    courier.reader += 1
    let reader = courier.reader
    var backoff = Backoff()
    var hasLapsed = false
    while !Task.isCancelled, courier.reader == reader {
      do {
        guard let url = courier.url else {
          try await registerAgain()
          continue
        }
        let start = clock.now
        let (answer, hasWake) = try await readOnce(at: url, into: wakes)
        // The relay does not know the address any more.
        if answer.status == 410 {
          if courier.url == url { courier.url = nil }
          if !hasLapsed {
            hasLapsed = true
            continue
          }
        } else if answer.status != 200 {
          throw answer.failure("courier", at: clock.date)
        }
        let isHeld = answer.status == 200 && clock.now - start >= Self.shortestSilence
        guard hasWake || isHeld else {
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

  /// An answer that comes sooner than this and has no wake is a failure, so that the client pauses
  /// before its next question. Otherwise it would ask a stopping relay, or a network that asks for
  /// a sign-in, again and again without a pause.
  private static let shortestSilence = Duration.seconds(1)

  /// Gets a new courier address by registering again, unless the app has registered a newer address
  /// while this call waited for its turn. If the user has signed out meanwhile, the call throws.
  private func registerAgain() async throws {
    try await perform { client in
      guard client.courier.url == nil else { return }
      guard let push = client.courier.push else {
        throw RelayError(.signedOut, "no address is registered: call register first")
      }
      try await client.registerNow(push)
    }
  }

  /// Reads wakes until the relay ends the answer.
  ///
  /// - Returns: the answer (of a stream: only its head), and whether a wake came.
  private func readOnce(
    at url: URL, into wakes: AsyncThrowingStream<Wake, any Error>.Continuation
  ) async throws -> (answer: RelayAnswer, hasWake: Bool) {
    // The relay answers a poll after 55 s at most.
    var request = RelayRequest(method: "GET", url: url, timeout: .seconds(75), isHeld: true)
    guard let streaming = transport as? any StreamingTransport else {
      let answer = try await transport.send(request)
      // The empty answer means: ask again.
      let wake = answer.status == 200 ? Wake(json: answer.body) : nil
      if let wake { wakes.yield(wake) }
      return (answer, wake != nil)
    }
    request.headers["Accept"] = "text/event-stream"
    // This header acknowledges, so it names only a wake that the app has handled.
    let handled = courier.handledWake
    if handled > 0 { request.headers["Last-Event-ID"] = "\(handled)" }
    let answer = try await streaming.open(request)
    let head = RelayAnswer(status: answer.status, headers: answer.headers)
    guard head.status == 200 else { return (head, false) }
    var events = ServerSentEvents()
    var hasWake = false
    for try await bytes in answer.bytes {
      for wake in events.append(bytes).compactMap(Wake.init(json:)) {
        wakes.yield(wake)
        hasWake = true
      }
    }
    return (head, hasWake)
  }
}
