import Crypto
import Foundation
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// Bodies that a test sends in pieces, and the proofs of their senders.
extension Rig {
  static let eventsPath = "/events/1/\(container)/development"
  static let listPath = "/device/1/\(container)/development/tokens/list"

  /// The API, open to one producer with `producerKey` and to one signing producer for each key id.
  init(limits: HTTPLimits, signers keyIDs: [String]) async throws {
    let key = try ProducerKey(pem: P256.Signing.PrivateKey().publicKey.pemRepresentation)
    let signers = keyIDs.enumerated().map { index, keyID in
      ScopeAccess.Producer(name: "records-\(index + 2)", proof: .signature(keyID: keyID, key))
    }
    let bearer = ScopeAccess.Producer(name: "records-1", proof: .bearer(Self.producerKey))
    await self.init(
      limits: limits,
      access: ScopeAccess(
        users: .init(.sharedSecret(Self.secret)), producers: [bearer] + signers))
  }

  static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

  /// A well-formed signature under a known key id, made with another key.
  static func forgedSignature(keyID: String) throws -> String {
    let signature = try P256.Signing.PrivateKey().signature(for: Data("x".utf8))
    return "X-Apple-CloudKit-Request-KeyID: \(keyID)\r\n"
      + "X-Apple-CloudKit-Request-ISO8601Date: 2026-11-21T03:00:00Z\r\n"
      + "X-Apple-CloudKit-Request-SignatureV1: "
      + Base64.text(Array(signature.derRepresentation))
  }
}

extension Socket {
  /// Begins a request, and sends `body` as a part of its body.
  ///
  /// - Parameters:
  ///   - proof: the lines of the head that prove who asks.
  ///   - length: the announced length; `nil` means the length of `body`.
  static func post(
    _ port: Int, _ path: String, _ proof: String, _ body: String, length: Int? = nil
  ) throws -> Socket {
    let socket = try #require(Socket(port: port))
    socket.send(
      "POST \(path) HTTP/1.1\r\nHost: x\r\n\(proof)\r\n"
        + "Content-Length: \(length ?? body.utf8.count)\r\n"
        + "Content-Type: application/cloudevents+json\r\n\r\n\(body)")
    return socket
  }
}
