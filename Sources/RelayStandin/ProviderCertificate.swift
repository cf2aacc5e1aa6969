import Crypto
import Foundation
import SwiftASN1
import X509

/// A client certificate like those that Apple gives to push providers, and its test authority.
struct ProviderCertificate {
  let authority: String
  let authorityKey: String
  let certificate: String
  let key: String

  static func make(topics: [String]) throws(StandinError) -> ProviderCertificate {
    do {
      return try made(topics)
    } catch {
      throw StandinError(
        code: .keys, message: "cannot make a client certificate: \(error)",
        remedy: "give topics of letters, digits, dots and hyphens")
    }
  }

  private static func made(_ topics: [String]) throws -> ProviderCertificate {
    let (authorityKey, key) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let name = try DistinguishedName { CommonName("zonerelay stand-in authority of providers") }
    let authorityID = SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
    let authority = try SelfSignedCertificate.certificate(
      for: authorityKey.publicKey, named: name, by: authorityKey, name,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        authorityID
      })
    let subject = DistinguishedName([
      RelativeDistinguishedName(
        .init(type: AppleMark.userID, utf8String: topics.first ?? "")),
      RelativeDistinguishedName(
        .init(
          type: .RDNAttributeType.commonName,
          utf8String: "Apple Push Services: \(topics.first ?? "")")),
    ])
    var extensions = try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      Critical(KeyUsage(digitalSignature: true))
      try ExtendedKeyUsage([.clientAuth])
      AuthorityKeyIdentifier(keyIdentifier: authorityID.keyIdentifier)
    }
    var empty = DER.Serializer()
    try empty.serialize(ASN1Null())
    for mark in AppleMark.environments {
      try extensions.append(
        Certificate.Extension(oid: mark.oid, critical: false, value: empty.serializedBytes[...]))
    }
    try extensions.append(
      Certificate.Extension(
        oid: AppleMark.topics, critical: false, value: try list(topics)[...]))
    let certificate = try SelfSignedCertificate.certificate(
      for: key.publicKey, named: subject, by: authorityKey, name, extensions: extensions)
    return ProviderCertificate(
      authority: try authority.serializeAsPEM().pemString + "\n",
      authorityKey: authorityKey.pemRepresentation + "\n",
      certificate: try certificate.serializeAsPEM().pemString + "\n",
      key: key.pemRepresentation + "\n")
  }

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
