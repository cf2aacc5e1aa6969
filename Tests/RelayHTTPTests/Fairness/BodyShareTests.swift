import Crypto
import Foundation
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// Bodies that are begun and never ended keep room from nobody but those who send them.
@Suite struct BodyShareTests {
  /// A share of a caller holds one body, and the pool of unverified ones two claims.
  private static var limits: HTTPLimits {
    var limits = Rig.atOnce
    limits.bodyBytes = 20_000
    limits.bodyBytesInFlight = 320_000
    limits.waitingReaders = 48
    return limits
  }

  private static func rig(_ limits: HTTPLimits = limits) async throws -> Rig {
    let key = try ProducerKey(pem: P256.Signing.PrivateKey().publicKey.pemRepresentation)
    return await Rig(
      limits: limits,
      access: ScopeAccess(
        users: .init(sharedSecret: Rig.secret),
        producers: [
          ScopeAccess.Producer(name: "records-1", bearer: Rig.producerKey),
          ScopeAccess.Producer(name: "records-2", proof: .signature(keyID: "key-1", key)),
        ]))
  }

  private static func head(_ path: String, _ length: Int, _ proof: String) -> String {
    "POST \(path) HTTP/1.1\r\nHost: x\r\n\(proof)\r\nContent-Length: \(length)\r\n"
      + "Content-Type: application/cloudevents+json\r\n\r\n"
  }

  private static let events = "/events/1/\(Rig.container)/development"
  private static let list = "/device/1/\(Rig.container)/development/tokens/list"

  /// Well-formed, and of another key.
  private static func stranger() throws -> String {
    let signature = try P256.Signing.PrivateKey().signature(for: Data("x".utf8))
    return "X-Apple-CloudKit-Request-KeyID: key-1\r\n"
      + "X-Apple-CloudKit-Request-ISO8601Date: 2026-11-21T03:00:00Z\r\n"
      + "X-Apple-CloudKit-Request-SignatureV1: "
      + Base64.text(Array(signature.derRepresentation))
  }

  /// Begins bodies until one of them is refused.
  ///
  /// - Returns: the sockets whose bodies are being read, and what the refused one was told.
  private static func fill(
    _ port: Int, _ path: String, _ proof: String, length: Int = 20_000
  ) throws -> (slow: [Socket], told: String) {
    var slow: [Socket] = []
    for _ in 0..<100 {
      let socket = try #require(Socket(port: port))
      socket.send(head(path, length, proof) + String(repeating: " ", count: length - 1))
      // One that is read says nothing, and one that is refused does so at once.
      guard !socket.hears(withinMilliseconds: 300) else {
        return (slow, socket.receive(until: "}"))
      }
      slow.append(socket)
    }
    return (slow, "")
  }

  /// All bodies were refused for 75 s when a stranger who knew a key id began five of them.
  @Test func `a stranger's bodies keep no room from callers that are known`() async throws {
    let token = try await Rig.token(for: "_abc")
    let proof = try Self.stranger()
    let (told, event, user) = try await Self.rig().served { port, _ in
      let (slow, told) = try Self.fill(port, Self.events, proof)
      let body = Event().text
      let socket = try #require(Socket(port: port))
      socket.send(
        Self.head(Self.events, body.utf8.count, "Authorization: Bearer \(Rig.producerKey)") + body)
      let event = socket.receive(until: "}")
      socket.send(Self.head(Self.list, 2, "Authorization: Bearer \(token)") + "{}")
      return (told, event, slow.isEmpty ? "" : socket.receive(until: "}"))
    }
    #expect(told.hasPrefix("HTTP/1.1 429 ") && told.contains("Retry-After: 1\r\n"), "\(told)")
    #expect(event.hasPrefix("HTTP/1.1 202 "), "\(event)")
    #expect(user.hasPrefix("HTTP/1.1 200 "), "\(user)")
  }

  @Test func `an unverified body has less time than others`() async throws {
    var limits = Self.limits
    limits.unverifiedBodySeconds = 1
    let proof = try Self.stranger()
    let told = try await Self.rig(limits).served { port, _ in
      let socket = try #require(Socket(port: port))
      socket.send(Self.head(Self.events, 100, proof) + "x")
      return socket.receive(until: "}")
    }
    #expect(told.hasPrefix("HTTP/1.1 408 ") && told.contains("within 1 s"), "\(told)")
  }

  /// The producer with a good key has its share and no more.
  @Test func `one producer's slow bodies keep no room from a user`() async throws {
    let token = try await Rig.token(for: "_abc")
    let (slow, told, user) = try await Self.rig().served { port, _ in
      let (slow, told) = try Self.fill(
        port, Self.events, "Authorization: Bearer \(Rig.producerKey)")
      let socket = try #require(Socket(port: port))
      socket.send(Self.head(Self.list, 2, "Authorization: Bearer \(token)") + "{}")
      return (slow.count, told, socket.receive(until: "}"))
    }
    #expect(slow == 2, "an eighth of the whole")
    #expect(told.hasPrefix("HTTP/1.1 429 ") && told.contains("Retry-After: 1\r\n"), "\(told)")
    #expect(user.hasPrefix("HTTP/1.1 200 "), "\(user)")
  }

  /// A sixteenth of the readers that may wait: three.
  @Test func `one user has a share of the requests under way`() async throws {
    let tokens = [try await Rig.token(for: "_abc"), try await Rig.token(for: "_other")]
    let (slow, told, other) = try await Self.rig().served { port, _ in
      let (slow, told) = try Self.fill(
        port, Self.list, "Authorization: Bearer \(tokens[0])", length: 2)
      let socket = try #require(Socket(port: port))
      socket.send(Self.head(Self.list, 2, "Authorization: Bearer \(tokens[1])") + "{}")
      return (slow.count, told, socket.receive(until: "}"))
    }
    #expect(slow == 3)
    #expect(told.hasPrefix("HTTP/1.1 429 ") && told.contains("Retry-After: 1\r\n"), "\(told)")
    #expect(other.hasPrefix("HTTP/1.1 200 "), "\(other)")
  }
}
