import Synchronization
import Testing

@testable import RelayHTTP

/// The bodies that a sender begins and never ends take room from that sender only.
@Suite struct BodyShareTests {
  private static let length = 20_000

  /// - Parameter inFlight: bytes for the bodies of verified callers.
  private static func limits(inFlight: Int) -> HTTPLimits {
    var limits = Rig.atOnce
    limits.bodyBytes = length
    limits.bodyBytesInFlight = inFlight
    limits.waitingReaders = 48
    return limits
  }

  private static func rig(_ limits: HTTPLimits) async throws -> Rig {
    try await Rig(limits: limits, signers: ["key-1"])
  }

  /// Begins a body and does not end it.
  private static func begin(
    _ port: Int, _ path: String, _ proof: String, length: Int = length
  ) throws -> Socket {
    try Socket.post(
      port, path, proof, String(repeating: " ", count: length - 1), length: length)
  }

  private static func askList(_ port: Int, _ token: String) throws -> String {
    try Socket.post(port, Rig.listPath, Rig.bearer(token), "{}").receive(until: "}")
  }

  /// Earlier, five unfinished bodies of an unverified caller with a known key id blocked all bodies
  /// for 75 s.
  @Test func `unverified bodies take no room from verified callers`() async throws {
    let token = try await Rig.token(for: "_abc")
    let proof = try Rig.forgedSignature(keyID: "key-1")
    let rig = try await Self.rig(Self.limits(inFlight: Self.length))
    let bodies = rig.api.bodies
    let said = try await rig.served { port, _ in
      let slow = try Self.begin(port, Rig.eventsPath, proof)
      Socket.wait { bodies.bytes == Self.length - 1 }
      let told = try Self.begin(port, Rig.eventsPath, proof).receive(until: "}")
      let event = try Socket.post(
        port, Rig.eventsPath, Rig.bearer(Rig.producerKey), Event().text
      ).receive(until: "}")
      let isRead = !slow.hears(withinMilliseconds: 0)
      return [told, event, try Self.askList(port, token), isRead ? "read still" : ""]
    }
    #expect(said[0].hasPrefix("HTTP/1.1 429 ") && said[0].contains("Retry-After: 1\r\n"))
    #expect(said[1].hasPrefix("HTTP/1.1 202 "), "\(said[1])")
    #expect(said[2].hasPrefix("HTTP/1.1 200 "), "\(said[2])")
    #expect(said[3] == "read still")
    #expect(bodies.bytes == 0)
  }

  @Test func `an unverified body that misses its short deadline is answered 408`() async throws {
    var limits = Self.limits(inFlight: 320_000)
    limits.unverifiedBodySeconds = 1
    let proof = try Rig.forgedSignature(keyID: "key-1")
    let told = try await Self.rig(limits).served { port, _ in
      try Self.begin(port, Rig.eventsPath, proof).receive(until: "}")
    }
    #expect(told.hasPrefix("HTTP/1.1 408 ") && told.contains("within 1 s"), "\(told)")
  }

  /// The bodies of one producer with a good key get an eighth of the bytes for all bodies, and no
  /// more.
  @Test func `one producer's slow bodies take no room from a user`() async throws {
    let token = try await Rig.token(for: "_abc")
    let key = Rig.bearer(Rig.producerKey)
    let rig = try await Self.rig(Self.limits(inFlight: 8 * Self.length))
    let bodies = rig.api.bodies
    let said = try await rig.served { port, _ in
      let slow = try Self.begin(port, Rig.eventsPath, key)
      Socket.wait { bodies.bytes == Self.length - 1 }
      let told = try Self.begin(port, Rig.eventsPath, key).receive(until: "}")
      let isRead = !slow.hears(withinMilliseconds: 0)
      return [told, try Self.askList(port, token), isRead ? "read still" : ""]
    }
    #expect(said[0].hasPrefix("HTTP/1.1 429 ") && said[0].contains("Retry-After: 1\r\n"))
    #expect(said[1].hasPrefix("HTTP/1.1 200 "), "\(said[1])")
    #expect(said[2] == "read still")
  }

  /// Without this bound, the requests of one user could take all places for waiting readers.
  @Test func `one user gets only a share of the requests under way`() async throws {
    let tokens = [try await Rig.token(for: "_abc"), try await Rig.token(for: "_other")]
    let limits = Self.limits(inFlight: 320_000)
    let rig = try await Self.rig(limits)
    let fairness = rig.api.fairness
    let said = try await rig.served { port, _ in
      let slow = try (0..<limits.requestsPerCaller).map { _ in
        try Self.begin(port, Rig.listPath, Rig.bearer(tokens[0]), length: 2)
      }
      Socket.wait { fairness.requestsUnderWay == slow.count }
      let told = try Self.askList(port, tokens[0])
      return [told, try Self.askList(port, tokens[1])]
    }
    #expect(limits.requestsPerCaller == 16)
    #expect(said[0].hasPrefix("HTTP/1.1 429 ") && said[0].contains("Retry-After: 1\r\n"))
    #expect(said[1].hasPrefix("HTTP/1.1 200 "), "\(said[1])")
    #expect(fairness.requestsUnderWay == 0)
  }

  @Test func `one user's slow bodies take no room from another user`() async throws {
    let tokens = [try await Rig.token(for: "_abc"), try await Rig.token(for: "_other")]
    let rig = try await Self.rig(Self.limits(inFlight: 8 * Self.length))
    let bodies = rig.api.bodies
    let said = try await rig.served { port, _ in
      let slow = try Self.begin(port, Rig.listPath, Rig.bearer(tokens[0]))
      Socket.wait { bodies.bytes == Self.length - 1 }
      let told = try Self.askList(port, tokens[0])
      let isRead = !slow.hears(withinMilliseconds: 0)
      return [told, try Self.askList(port, tokens[1]), isRead ? "read still" : ""]
    }
    #expect(said[0].hasPrefix("HTTP/1.1 429 ") && said[0].contains("Retry-After: 1\r\n"))
    #expect(said[1].hasPrefix("HTTP/1.1 200 "), "\(said[1])")
    #expect(said[2] == "read still")
  }

  /// While a request waits for the relay, its cost counts in the inbox and not as body bytes.
  @Test func `a request that waits for the relay holds no body bytes`() async throws {
    let rig = await Rig()
    let bodies = rig.api.bodies
    let kept = Mutex<Int?>(nil)
    rig.relay.behave {
      $0.onSubmit = {
        let bytes = bodies.bytes
        kept.withLock { $0 = bytes }
      }
    }
    #expect(try await rig.produce("[\(Event().text)]").status == 202)
    #expect(kept.withLock { $0 } == 0)
  }

  /// The relay must read this body to verify the sender. It does not read the body if too many
  /// authentications from the sender's address have failed.
  @Test func `no signed body is read after too many failed authentications`() async throws {
    var limits = Self.limits(inFlight: 320_000)
    limits.failedAuthenticationsPerMinute = 1
    let proof = try Rig.forgedSignature(keyID: "key-1")
    let rig = try await Self.rig(limits)
    let bodies = rig.api.bodies
    let said = try await rig.served { port, _ in
      // Over loopback, a hundred times as many authentications may fail as from a public address.
      let refused = try (0..<101).map { _ in try Self.askList(port, "no-token") }
      let told = try Self.begin(port, Rig.eventsPath, proof).receive(until: "}")
      return [refused.last ?? "", told]
    }
    #expect(said[0].hasPrefix("HTTP/1.1 429 "), "\(said[0])")
    #expect(said[1].hasPrefix("HTTP/1.1 429 ") && said[1].contains("Retry-After: 1\r\n"))
    #expect(bodies.bytes == 0)
  }
}
