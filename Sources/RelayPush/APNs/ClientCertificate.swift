import Foundation
package import RelayCore
import SwiftASN1
import X509

/// The contents of a client certificate for APNs: its apps, Apple's environments that accept it,
/// and the times at which it begins and ends. The daemon reads the contents at its start, so that
/// it finds early what Apple would refuse at the first push.
package struct ClientCertificate: Hashable, Sendable {
  /// The topics that the certificate names; empty if the certificate names no topic, for example
  /// because Apple did not issue it.
  package let topics: [String]
  /// Apple's environments that accept the certificate; empty if it names none.
  package let environments: Set<RelayCore.Environment>
  package let begins: Instant
  package let ends: Instant

  /// Reads the certificate file and the key file, and checks that they belong together.
  ///
  /// - Throws: an error with the file's path, if a file cannot be read or the key does not match.
  package init(_ files: EngineSettings.ClientCertificate) throws(PushProblem) {
    let blocks = try Self.blocks(files.certificate, .certificate)
    // The first block is the certificate, the next ones are its chain.
    guard let first = blocks.first(where: { $0.discriminator == "CERTIFICATE" }) else {
      throw PushProblem(
        .certificate, "\(files.certificate) holds no CERTIFICATE block",
        remedy: "name the certificate from Apple's developer account, in PEM")
    }
    let (certificate, topics) = try PushProblem.explain(
      .certificate, "the certificate in \(files.certificate) cannot be read",
      remedy: "name the certificate from Apple's developer account, in PEM"
    ) {
      let certificate = try Certificate(pemDocument: first)
      return (certificate, try Self.topics(of: certificate))
    }
    self.topics = topics
    environments = Set(
      Self.marks.compactMap { certificate.extensions[oid: $0.key] == nil ? nil : $0.value })
    begins = Instant(certificate.notValidBefore)
    ends = Instant(certificate.notValidAfter)
    let keys = try Self.blocks(files.key, .certificateKey)
    guard let block = keys.first(where: { $0.discriminator.hasSuffix("PRIVATE KEY") }),
      // A key of an unknown kind is not compared, because TLS checks it later.
      let key = try? Certificate.PrivateKey(pemDocument: block)
    else { return }
    guard key.publicKey == certificate.publicKey else {
      throw PushProblem(
        .certificateKey, "\(files.key) is not the key of the certificate in \(files.certificate)",
        remedy: "name the private key that the certificate was requested with")
    }
  }

  /// Why Apple would refuse the certificate at `now`; nil if the certificate is valid then. An
  /// expired certificate stops only its own route; it does not keep the daemon from starting.
  package func misfit(_ path: String, at now: Instant) -> PushProblem? {
    guard now < ends else {
      return PushProblem(
        .certificateTime, "the client certificate in \(path) expired on \(ends.day)",
        remedy: "renew it in Apple's developer account, put the new files there, and reload")
    }
    guard begins <= now else {
      return PushProblem(
        .certificateTime, "the client certificate in \(path) begins on \(begins.day)",
        remedy: "look at the machine's clock, or wait for that day")
    }
    return nil
  }

  /// - Throws: an error if Apple would refuse the certificate for `topic` at any time.
  package func check(_ path: String, topic: String) throws(PushProblem) {
    guard topics.isEmpty || topics.contains(topic) else {
      let named = topics.joined(separator: ", ")
      throw PushProblem(
        .certificateTopic, "the client certificate in \(path) is for \(named), not for \(topic)",
        remedy: "name the certificate of this app, or correct the topic")
    }
  }

  /// One line for operators, as `zonerelay check` prints it.
  package var summary: String {
    let apps =
      topics.isEmpty ? "it names no topic, so Apple decides" : topics.joined(separator: " ")
    return "\(apps), until \(ends.day)"
  }

  private static func blocks(
    _ path: String, _ code: PushProblem.Code
  ) throws(PushProblem) -> [PEMDocument] {
    try PushProblem.explain(code, "\(path) cannot be read", remedy: "name a readable file in PEM") {
      try PEMDocument.parseMultiple(pemString: String(contentsOfFile: path, encoding: .utf8))
    }
  }

  /// The topics in Apple's extension of the certificate; without that extension, the app that the
  /// `UID` of the certificate's subject names.
  private static func topics(of certificate: Certificate) throws -> [String] {
    guard let list = certificate.extensions[oid: topicList] else {
      return certificate.subject.flatMap(\.self).filter { $0.type == userID }
        .compactMap { String($0.value) }
    }
    guard case .constructed(let nodes) = try DER.parse(list.value).content else { return [] }
    // Each topic is followed by a list of its uses.
    return try nodes.filter { $0.identifier == .utf8String }
      .map { String(try ASN1UTF8String(derEncoded: $0)) }
  }

  private static let topicList: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
  private static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
  private static let marks: [ASN1ObjectIdentifier: RelayCore.Environment] = [
    [1, 2, 840, 113_635, 100, 6, 3, 1]: .development,
    [1, 2, 840, 113_635, 100, 6, 3, 2]: .production,
  ]
}

extension Instant {
  fileprivate init(_ date: Date) {
    self.init(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
  }

  /// The date, such as `2027-11-21`.
  fileprivate var day: String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
      .formatted(.iso8601.year().month().day())
  }
}
