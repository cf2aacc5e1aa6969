import Crypto
import Foundation
import SwiftASN1
import X509

/// The directory of a stand-in: its certificate, the provider's key pair, the log of requests.
///
/// Existing files are kept, so that keys stay the same and clients still trust the certificate
/// after a restart.
struct StandinFiles {
  let authority: String
  let certificate: String
  let certificateKey: String
  let providerKey: String
  let providerPublicKey: String
  let serviceAccount: String
  let clientAuthority: String
  let clientAuthorityKey: String
  let client: String
  let clientKey: String
  let pushes: String
  private let directory: String

  init(directory: String) {
    self.directory = directory
    authority = "\(directory)/ca.pem"
    certificate = "\(directory)/server.pem"
    certificateKey = "\(directory)/server.key"
    providerKey = "\(directory)/AuthKey.p8"
    providerPublicKey = "\(directory)/AuthKey.pub.pem"
    serviceAccount = "\(directory)/service-account.json"
    clientAuthority = "\(directory)/client-ca.pem"
    clientAuthorityKey = "\(directory)/client-ca.key"
    client = "\(directory)/client.pem"
    clientKey = "\(directory)/client.key"
    pushes = "\(directory)/pushes.jsonl"
  }

  /// Makes a provider's client certificate for the topics, unless `topics` is empty or there is a
  /// certificate already.
  ///
  /// - Returns: the authority that signs such certificates; nil if none was ever made.
  func prepareClient(_ topics: [String]) throws(StandinError) -> Certificate? {
    if !topics.isEmpty, ![clientAuthority, client, clientKey].allSatisfy(Self.exists) {
      let made = try ProviderCertificate.make(topics: topics)
      try write(made.authorityKey, clientAuthorityKey, mode: 0o600)
      try write(made.authority, clientAuthority, mode: 0o644)
      try write(made.key, clientKey, mode: 0o600)
      try write(made.certificate, client, mode: 0o644)
    }
    guard Self.exists(clientAuthority) else { return nil }
    let text = try read(clientAuthority)
    do {
      return try Certificate(pemEncoded: text)
    } catch {
      throw Self.badKey(clientAuthority, "no certificate in PEM", error)
    }
  }

  /// Makes missing files and returns the key that verifies provider tokens.
  func prepare() throws(StandinError) -> P256.Signing.PublicKey {
    try prepareCertificate()
    return try providerKeys()
  }

  /// Makes the directory and a certificate if they are missing.
  func prepareCertificate() throws(StandinError) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw StandinError(
        code: .files, message: "cannot make the directory \(directory): \(error)",
        remedy: "choose a directory that this user may write to")
    }
    if ![authority, certificate, certificateKey].allSatisfy(Self.exists) {
      let made = try SelfSignedCertificate.make()
      try write(made.key, certificateKey, mode: 0o600)
      try write(made.certificate, certificate, mode: 0o644)
      try write(made.authority, authority, mode: 0o644)
    }
  }

  private func providerKeys() throws(StandinError) -> P256.Signing.PublicKey {
    if Self.exists(providerPublicKey) {
      let text = try read(providerPublicKey)
      do {
        return try P256.Signing.PublicKey(pemRepresentation: text)
      } catch {
        throw Self.badKey(providerPublicKey, "no P-256 public key in PEM", error)
      }
    }
    let key: P256.Signing.PrivateKey
    if Self.exists(providerKey) {
      let text = try read(providerKey)
      do {
        key = try P256.Signing.PrivateKey(pemRepresentation: text)
      } catch {
        throw Self.badKey(providerKey, "no P-256 private key in PEM", error)
      }
    } else {
      key = P256.Signing.PrivateKey()
      try write(key.pemRepresentation + "\n", providerKey, mode: 0o600)
    }
    try write(key.publicKey.pemRepresentation + "\n", providerPublicKey, mode: 0o644)
    return key.publicKey
  }

  private static func badKey(_ path: String, _ what: String, _ error: any Error) -> StandinError {
    StandinError(
      code: .keys, message: "\(path) holds \(what): \(error)",
      remedy: "remove the file, and a new one is made")
  }

  static func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  func read(_ path: String) throws(StandinError) -> String {
    do {
      return try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw StandinError(
        code: .files, message: "cannot read \(path): \(error)",
        remedy: "make the file readable, or remove it")
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
