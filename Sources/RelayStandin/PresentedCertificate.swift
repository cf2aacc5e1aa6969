import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// The client certificate of a connection, judged once.
enum PresentedCertificate: Sendable, Equatable {
  /// The stand-in's authority signed the certificate, and the certificate is valid now.
  case good(topics: [String], environments: [String])
  case bad

  /// - Parameter authority: the authority that signs the providers' certificates.
  init(_ shown: NIOSSLCertificate, authority: Certificate?, at now: Date = Date()) {
    guard let authority,
      // A certificate that cannot be read counts as bad.
      let certificate = try? Certificate(derEncoded: shown.toDERBytes()),
      authority.publicKey.isValidSignature(certificate.signature, for: certificate),
      certificate.notValidBefore <= now, now < certificate.notValidAfter,
      // A certificate whose list of topics cannot be read counts as bad.
      let topics = try? certificate.appleTopics()
    else {
      self = .bad
      return
    }
    let environments = AppleMark.environments.filter { certificate.extensions[oid: $0.oid] != nil }
    self = .good(topics: topics, environments: environments.map(\.name))
  }

  /// Apple's reason to refuse a push for `topic`; nil if the certificate allows the push.
  ///
  /// - Parameter environment: the environment that the stand-in plays; nil means both.
  func check(topic: String?, environment: String?) -> APNsReason? {
    guard case .good(let topics, let environments) = self else { return .badCertificate }
    if let environment, !environments.isEmpty, !environments.contains(environment) {
      return .badCertificateEnvironment
    }
    guard let topic, !topics.isEmpty else { return nil }
    return topics.contains(topic) ? nil : .topicDisallowed
  }
}

/// The extensions that Apple adds to push providers' certificates.
enum AppleMark {
  static let topics: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
  static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
  static let environments: [(oid: ASN1ObjectIdentifier, name: String)] = [
    ([1, 2, 840, 113_635, 100, 6, 3, 1], "development"),
    ([1, 2, 840, 113_635, 100, 6, 3, 2], "production"),
  ]
}

extension Certificate {
  /// The topics in Apple's list, which also has the uses of each topic; the uses are skipped.
  fileprivate func appleTopics() throws -> [String] {
    guard let list = extensions[oid: AppleMark.topics],
      case .constructed(let nodes) = try DER.parse(list.value).content
    else { return [] }
    return try nodes.filter { $0.identifier == .utf8String }
      .map { String(try ASN1UTF8String(derEncoded: $0)) }
  }
}
