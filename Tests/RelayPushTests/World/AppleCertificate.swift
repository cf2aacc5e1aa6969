import Crypto
import Foundation
import SwiftASN1
import X509

@testable import RelayPush

/// A client certificate like those of Apple, in files of its own.
final class AppleCertificate: Sendable {
  private let directory: String
  var files: EngineSettings.ClientCertificate {
    .init(certificate: "\(directory)/client.pem", key: "\(directory)/client.key")
  }

  /// - Parameters:
  ///   - topics: the topics in Apple's own extension; `nil` means that there is no extension.
  ///   - userID: the user id in the subject; `nil` means that the subject has none.
  ///   - isOfKey: `false` means that the key file belongs to another certificate.
  init(
    topics: [String]? = nil, userID: String? = nil, marks: [UInt] = [1, 2],
    from: Date = Date(timeIntervalSinceNow: -3_600),
    until: Date = Date(timeIntervalSinceNow: 3_600), isOfKey: Bool = true
  ) throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "relay-push-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let key = P256.Signing.PrivateKey()
    let names = userID.map {
      DistinguishedName([
        RelativeDistinguishedName(
          .init(type: [0, 9, 2342, 19_200_300, 100, 1, 1], utf8String: $0))
      ])
    }
    var extensions = X509.Certificate.Extensions()
    for mark in marks {
      try extensions.append(
        X509.Certificate.Extension(
          oid: [1, 2, 840, 113_635, 100, 6, 3, mark], critical: false, value: [5, 0]))
    }
    if let topics {
      var list = DER.Serializer()
      try list.appendConstructedNode(identifier: .sequence) { list in
        for topic in topics {
          try list.serialize(ASN1UTF8String(topic))
          try list.appendConstructedNode(identifier: .sequence) { uses in
            try uses.serialize(ASN1UTF8String("app"))
          }
        }
      }
      try extensions.append(
        X509.Certificate.Extension(
          oid: [1, 2, 840, 113_635, 100, 6, 3, 6], critical: false,
          value: list.serializedBytes[...]))
    }
    let certificate = try X509.Certificate(
      version: .v3, serialNumber: X509.Certificate.SerialNumber(),
      publicKey: X509.Certificate.PublicKey(key.publicKey), notValidBefore: from,
      notValidAfter: until,
      issuer: names ?? DistinguishedName(), subject: names ?? DistinguishedName(),
      signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
      issuerPrivateKey: X509.Certificate.PrivateKey(key))
    try certificate.serializeAsPEM().pemString
      .write(toFile: files.certificate, atomically: true, encoding: .utf8)
    try (isOfKey ? key : P256.Signing.PrivateKey()).pemRepresentation
      .write(toFile: files.key, atomically: true, encoding: .utf8)
  }

  deinit {
    // A temporary directory that is left behind does no harm.
    try? FileManager.default.removeItem(atPath: directory)
  }
}
