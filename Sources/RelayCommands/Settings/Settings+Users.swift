import Foundation
import RelayHTTP

extension Settings {
  static func users(_ section: Section) -> Users? {
    let issuer = section.value("issuer", .text())
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE"))
    var proof: Users.Proof?
    switch (section.isGiven("sharedSecret"), section.isGiven("jwks")) {
    case (true, false): proof = sharedSecret(section)
    case (false, true): proof = keySet(section)
    case (true, true):
      _ = (sharedSecret(section), keySet(section))
      section.report(
        "jwks", ValueError("stands beside sharedSecret", remedy: "keep one of the two proofs"))
    case (false, false):
      // Make both keys known, so that a key without a value is not reported as unknown.
      _ = (section.node("sharedSecret"), section.node("jwks"))
      section.report(
        "sharedSecret",
        ValueError(
          "is missing",
          remedy: "add sharedSecret: PATH (HS256) or jwks: PATH or URL (ES256, RS256, EdDSA)"))
    }
    switch proof {
    case .keySetURL(var address)?:
      address.trustRoots = trustRoots
      proof = .keySetURL(address)
    case .sharedSecret?, .keySet?:
      guard section.isGiven("trustRoots") else { break }
      section.report(
        "trustRoots",
        ValueError("has nothing to serve", remedy: "remove it; it belongs to a jwks URL"))
      return nil
    case nil: break
    }
    return proof.map { Users(proof: $0, issuer: issuer) }
  }

  private static func sharedSecret(_ section: Section) -> Users.Proof? {
    section.required("sharedSecret", section.secret(min: 32, "a secret")).map { .sharedSecret($0) }
  }

  private static func keySet(_ section: Section) -> Users.Proof? {
    section.required("jwks", section.keySet)?.proof
  }
}

/// The proof that `users.jwks` configures.
struct NamedKeySet {
  var proof: Settings.Users.Proof
  var shown: String
}

extension Section {
  /// A file with a key set, or the https URL of a key set.
  fileprivate var keySet: ValueParser<NamedKeySet> {
    let path = path
    return ValueParser(
      read: { text throws(ValueError) in
        if text.contains("://") {
          guard let url = Self.keySetURL(text) else {
            throw ValueError(
              "'\(text)' is no https URL of a key set",
              remedy: "write https://host[:port]/path, without a user and a fragment")
          }
          return NamedKeySet(proof: .keySetURL(KeySetAddress(url: url)), shown: url)
        }
        let file = try path.read(text)
        let set = try Self.keySet(file)
        let count = set.keys.count == 1 ? "1 key" : "\(set.keys.count) keys"
        return NamedKeySet(proof: .keySet(set), shown: "\(file) (\(count))")
      }, show: \.shown)
  }

  private static func keySetURL(_ text: String) -> String? {
    guard let url = URLComponents(string: text), url.scheme?.lowercased() == "https",
      let host = url.host, !host.isEmpty, url.user == nil, url.fragment == nil,
      url.port.map({ (1...65_535).contains($0) }) ?? true, text.utf8.count <= 2_048
    else { return nil }
    return text
  }

  /// - Throws: one error with all problems of the file's keys.
  private static func keySet(_ file: String) throws(ValueError) -> KeySet {
    let remedy = "list public keys for ES256, RS256 (2048 to 8192 bits) or EdDSA (Ed25519)"
    let bytes = try FileBytes.read(file)
    let set: KeySet
    do throws(KeySet.Unreadable) {
      set = try KeySet(bytes)
    } catch {
      throw ValueError("\(file) \(error.reason)", remedy: remedy)
    }
    guard set.problems.isEmpty else {
      throw ValueError("\(file): \(set.problems.joined(separator: "; "))", remedy: remedy)
    }
    guard !set.keys.isEmpty else {
      throw ValueError("\(file) lists no key for ES256, RS256 or EdDSA", remedy: remedy)
    }
    return set
  }
}
