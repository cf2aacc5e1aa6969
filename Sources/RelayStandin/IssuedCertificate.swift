import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate and the small authority that signed it, all in PEM.
struct IssuedCertificate {
  let authority: String
  let authorityKey: String
  let certificate: String
  let key: String

  /// A server certificate for the loopback names.
  static func server() throws(StandinError) -> IssuedCertificate {
    try StandinError.explain(
      .keys, "cannot make a certificate",
      remedy: "report this: it depends on nothing outside the program"
    ) {
      try IssuedCertificate(
        by: "zonerelay APNs stand-in authority", to: DistinguishedName { CommonName("localhost") }
      ) { key in
        try Certificate.Extensions {
          try ExtendedKeyUsage([.serverAuth])
          SubjectAlternativeNames([
            .dnsName("localhost"),
            .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: Array(repeating: 0, count: 15) + [1])),
          ])
          SubjectKeyIdentifier(hash: key)
        }
      }
    }
  }

  /// A client certificate like those that Apple gives to push providers.
  static func client(topics: [String]) throws(StandinError) -> IssuedCertificate {
    try StandinError.explain(
      .keys, "cannot make a client certificate",
      remedy: "give topics of letters, digits, dots and hyphens"
    ) {
      let topic = topics.first ?? ""
      let subject = DistinguishedName([
        RelativeDistinguishedName(.init(type: AppleMark.userID, utf8String: topic)),
        RelativeDistinguishedName(
          .init(
            type: .RDNAttributeType.commonName, utf8String: "Apple Push Services: \(topic)")),
      ])
      return try IssuedCertificate(
        by: "zonerelay stand-in authority of providers", to: subject
      ) { _ in
        var extensions = try Certificate.Extensions { try ExtendedKeyUsage([.clientAuth]) }
        var empty = DER.Serializer()
        try empty.serialize(ASN1Null())
        let marks = AppleMark.environments.map { ($0.oid, empty.serializedBytes) }
        for (oid, value) in try marks + [(AppleMark.topics, list(topics))] {
          try extensions.append(
            Certificate.Extension(oid: oid, critical: false, value: value[...]))
        }
        return extensions
      }
    }
  }

  /// - Parameter extensions: returns the extensions that the certificate for the given key has
  ///   besides the extensions that all issued certificates have.
  private init(
    by issuer: String, to subject: DistinguishedName,
    extensions: (Certificate.PublicKey) throws -> Certificate.Extensions
  ) throws {
    let (authorityKey, ownKey) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let name = try DistinguishedName { CommonName(issuer) }
    let authorityID = SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
    func signed(
      _ key: P256.Signing.PrivateKey, _ subject: DistinguishedName,
      _ extensions: Certificate.Extensions
    ) throws -> String {
      // The certificate is valid from an hour ago, because the client's clock may be slow.
      let start = Date(timeIntervalSinceNow: -3_600)
      let certificate = try Certificate(
        version: .v3, serialNumber: Certificate.SerialNumber(),
        publicKey: Certificate.PublicKey(key.publicKey), notValidBefore: start,
        notValidAfter: start.addingTimeInterval(Self.yearsValid * 365 * 86_400), issuer: name,
        subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
        issuerPrivateKey: Certificate.PrivateKey(authorityKey))
      return try certificate.serializeAsPEM().pemString + "\n"
    }
    authority = try signed(
      authorityKey, name,
      Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        authorityID
      })
    var all = try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      Critical(KeyUsage(digitalSignature: true))
      AuthorityKeyIdentifier(keyIdentifier: authorityID.keyIdentifier)
    }
    for own in try extensions(Certificate.PublicKey(ownKey.publicKey)) { try all.append(own) }
    certificate = try signed(ownKey, subject, all)
    self.authorityKey = authorityKey.pemRepresentation + "\n"
    key = ownKey.pemRepresentation + "\n"
  }

  private static let yearsValid = 10.0

  /// Encodes the topics in Apple's form: a topic, the list of its uses, the next topic, and so on.
  private static func list(_ topics: [String]) throws -> [UInt8] {
    var serializer = DER.Serializer()
    try serializer.appendConstructedNode(identifier: .sequence) { list in
      for topic in topics {
        try list.serialize(ASN1UTF8String(topic))
        try list.appendConstructedNode(identifier: .sequence) { uses in
          try uses.serialize(ASN1UTF8String("app"))
        }
      }
    }
    return serializer.serializedBytes
  }
}
