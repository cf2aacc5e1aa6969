import Crypto
import Foundation
import SwiftASN1
import X509

/// A small authority and one server certificate for the loopback names, all in PEM.
struct SelfSignedCertificate {
  let authority: String
  let certificate: String
  let key: String

  private static let yearsValid = 10.0

  static func make() throws(StandinError) -> SelfSignedCertificate {
    do {
      return try made()
    } catch {
      throw StandinError(
        code: .keys, message: "cannot make a certificate: \(error)",
        remedy: "report this: it depends on nothing outside the program")
    }
  }

  private static func made() throws -> SelfSignedCertificate {
    let authorityKey = P256.Signing.PrivateKey()
    let serverKey = P256.Signing.PrivateKey()
    let authorityName = try DistinguishedName { CommonName("zonerelay APNs stand-in authority") }
    let authorityID = SubjectKeyIdentifier(hash: Certificate.PublicKey(authorityKey.publicKey))
    let authority = try certificate(
      for: authorityKey.publicKey, named: authorityName, by: authorityKey, authorityName,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
        Critical(KeyUsage(keyCertSign: true, cRLSign: true))
        authorityID
      })
    let server = try certificate(
      for: serverKey.publicKey, named: DistinguishedName { CommonName("localhost") },
      by: authorityKey, authorityName,
      extensions: Certificate.Extensions {
        Critical(BasicConstraints.notCertificateAuthority)
        Critical(KeyUsage(digitalSignature: true))
        try ExtendedKeyUsage([.serverAuth])
        SubjectAlternativeNames([
          .dnsName("localhost"),
          .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
          .ipAddress(ASN1OctetString(contentBytes: Array(repeating: 0, count: 15) + [1])),
        ])
        SubjectKeyIdentifier(hash: Certificate.PublicKey(serverKey.publicKey))
        AuthorityKeyIdentifier(keyIdentifier: authorityID.keyIdentifier)
      })
    return SelfSignedCertificate(
      authority: try authority.serializeAsPEM().pemString + "\n",
      certificate: try server.serializeAsPEM().pemString + "\n",
      key: serverKey.pemRepresentation + "\n")
  }

  static func certificate(
    for key: P256.Signing.PublicKey, named subject: DistinguishedName,
    by issuerKey: P256.Signing.PrivateKey, _ issuer: DistinguishedName,
    extensions: Certificate.Extensions
  ) throws -> Certificate {
    // The certificate is valid from an hour ago, because the client's clock may be slow.
    let start = Date(timeIntervalSinceNow: -3_600)
    return try Certificate(
      version: .v3, serialNumber: Certificate.SerialNumber(),
      publicKey: Certificate.PublicKey(key), notValidBefore: start,
      notValidAfter: start.addingTimeInterval(yearsValid * 365 * 86_400), issuer: issuer,
      subject: subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
      issuerPrivateKey: Certificate.PrivateKey(issuerKey))
  }
}
