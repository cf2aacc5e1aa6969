import Crypto
import Foundation
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The directory of a stand-in: its certificate, the provider's key pair, the log of requests.
///
/// Existing files are kept, so that keys stay the same and clients still trust the certificate
/// after a restart.
struct StandinFiles {
  let directory: String
  var authority: String { "\(directory)/ca.pem" }
  var certificate: String { "\(directory)/server.pem" }
  var certificateKey: String { "\(directory)/server.key" }
  var providerKey: String { "\(directory)/AuthKey.p8" }
  var providerPublicKey: String { "\(directory)/AuthKey.pub.pem" }
  var serviceAccount: String { "\(directory)/service-account.json" }
  var clientAuthority: String { "\(directory)/client-ca.pem" }
  var clientAuthorityKey: String { "\(directory)/client-ca.key" }
  var client: String { "\(directory)/client.pem" }
  var clientKey: String { "\(directory)/client.key" }
  var pushes: String { "\(directory)/pushes.jsonl" }

  /// Makes a provider's client certificate for the topics, unless `topics` is empty or there is a
  /// certificate already.
  ///
  /// - Returns: the authority that signs such certificates; nil if no such authority was ever made.
  func prepareClient(_ topics: [String]) throws(StandinError) -> Certificate? {
    if !topics.isEmpty, ![clientAuthority, client, clientKey].allSatisfy(Self.exists) {
      let made = try IssuedCertificate.client(topics: topics)
      try write(made.authorityKey, clientAuthorityKey, mode: 0o600)
      try write(made.authority, clientAuthority, mode: 0o644)
      try write(made.key, clientKey, mode: 0o600)
      try write(made.certificate, client, mode: 0o644)
    }
    guard Self.exists(clientAuthority) else { return nil }
    return try parse(clientAuthority, "certificate in PEM") { try Certificate(pemEncoded: $0) }
  }

  /// Makes the directory and a certificate if they are missing.
  func prepareCertificate() throws(StandinError) {
    try StandinError.explain(
      .files, "cannot make the directory \(directory)",
      remedy: "choose a directory that this user may write to"
    ) {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    }
    if ![authority, certificate, certificateKey].allSatisfy(Self.exists) {
      let made = try IssuedCertificate.server()
      try write(made.key, certificateKey, mode: 0o600)
      try write(made.certificate, certificate, mode: 0o644)
      try write(made.authority, authority, mode: 0o644)
    }
  }

  /// Makes missing keys and returns the one that verifies provider tokens.
  func prepareProviderKey() throws(StandinError) -> P256.Signing.PublicKey {
    if Self.exists(providerPublicKey) {
      return try parse(providerPublicKey, "P-256 public key in PEM") {
        try P256.Signing.PublicKey(pemRepresentation: $0)
      }
    }
    let key: P256.Signing.PrivateKey
    if Self.exists(providerKey) {
      key = try parse(providerKey, "P-256 private key in PEM") {
        try P256.Signing.PrivateKey(pemRepresentation: $0)
      }
    } else {
      key = P256.Signing.PrivateKey()
      try write(key.pemRepresentation + "\n", providerKey, mode: 0o600)
    }
    try write(key.publicKey.pemRepresentation + "\n", providerPublicKey, mode: 0o644)
    return key.publicKey
  }

  /// - Parameter asksForCertificate: true if clients may present a certificate.
  func tls(
    protocols: [String] = ["h2"], asksForCertificate: Bool = false
  ) throws(StandinError) -> NIOSSLContext {
    try StandinError.explain(
      .keys, "\(certificate) or \(certificateKey) is no certificate",
      remedy: "remove the file, and new ones are made"
    ) {
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: certificateKey, format: .pem)))
      configuration.applicationProtocols = protocols
      // A client that sends no close_notify delays the close by at most this time.
      configuration.shutdownTimeout = .milliseconds(500)
      configuration.minimumTLSVersion = .tlsv12
      if asksForCertificate {
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates([])
      }
      return try NIOSSLContext(configuration: configuration)
    }
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  /// Reads a file that must hold `what`.
  func parse<Value>(
    _ path: String, _ what: String, _ parse: (String) throws -> Value
  ) throws(StandinError) -> Value {
    let text = try StandinError.explain(
      .files, "cannot read \(path)", remedy: "make the file readable, or remove it"
    ) {
      try String(contentsOfFile: path, encoding: .utf8)
    }
    return try StandinError.explain(
      .keys, "\(path) holds no \(what)", remedy: "remove the file, and a new one is made"
    ) {
      try parse(text)
    }
  }

  /// Writes the file under another name and renames it: a reader never sees a partial key.
  func write(_ text: String, _ path: String, mode: mode_t) throws(StandinError) {
    let draft = "\(path).new"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw .files("open", draft) }
    let bytes = Array(text.utf8)
    let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    guard written == bytes.count, rename(draft, path) == 0 else { throw .files("write", path) }
  }
}
