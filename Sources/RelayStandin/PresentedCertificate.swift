import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A client certificate as a connection showed it, looked at once.
enum PresentedCertificate: Sendable, Equatable {
  /// Signed by our authority, and of today.
  case good(topics: [String], environments: [String])
  case bad

  /// - Parameter authority: who signs the certificates of providers.
  init(_ shown: NIOSSLCertificate, authority: Certificate?, at now: Date = Date()) {
    guard let authority,
      // What cannot be read is as bad as a forgery.
      let certificate = try? Certificate(derEncoded: shown.toDERBytes()),
      authority.publicKey.isValidSignature(certificate.signature, for: certificate),
      certificate.notValidBefore <= now, now < certificate.notValidAfter,
      // So is one with a list of topics that is none.
      let topics = try? certificate.appleTopics
    else {
      self = .bad
      return
    }
    let environments = AppleMark.environments.filter { certificate.extensions[oid: $0.oid] != nil }
    self = .good(topics: topics, environments: environments.map(\.name))
  }

  /// Apple's answer to a push for `topic`; nil if it may pass.
  ///
  /// - Parameter environment: which one the stand-in plays; nil for both.
  func check(topic: String?, environment: String?) -> APNsReason? {
    guard case .good(let topics, let environments) = self else { return .badCertificate }
    if let environment, !environments.isEmpty, !environments.contains(environment) {
      return .badCertificateEnvironment
    }
    guard let topic, !topics.isEmpty else { return nil }
    return topics.contains(topic) ? nil : .topicDisallowed
  }
}

/// What Apple writes into the certificates of push providers.
enum AppleMark {
  static let topics: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
  static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
  static let environments: [(oid: ASN1ObjectIdentifier, name: String)] = [
    ([1, 2, 840, 113_635, 100, 6, 3, 1], "development"),
    ([1, 2, 840, 113_635, 100, 6, 3, 2], "production"),
  ]
}

extension Certificate {
  /// The topics of Apple's list: each is followed by its uses, which are passed over.
  fileprivate var appleTopics: [String] {
    get throws {
      guard let list = extensions[oid: AppleMark.topics],
        case .constructed(let nodes) = try DER.parse(list.value).content
      else { return [] }
      return try nodes.filter { $0.identifier == .utf8String }
        .map { String(try ASN1UTF8String(derEncoded: $0)) }
    }
  }
}
