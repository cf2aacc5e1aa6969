import Foundation
import RelayHTTP

extension Settings {
  static func users(_ section: Section) -> Users? {
    let issuer = section.value("issuer", .text())
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE"))
    let proof = section.either(
      "sharedSecret", { sharedSecret(section) }, or: ["jwks"],
      { section.required("jwks", section.keySet)?.value },
      missing: "add sharedSecret: PATH (HS256) or jwks: PATH or URL (ES256, RS256, EdDSA)",
      both: "keep one of the two proofs")
    guard let proof else { return nil }
    if case .keySetURL(var address) = proof {
      address.trustRoots = trustRoots
      return Users(proof: .keySetURL(address), issuer: issuer)
    }
    guard !section.isGiven("trustRoots") else {
      section.report(
        "trustRoots", "has nothing to serve", remedy: "remove it; it belongs to a jwks URL")
      return nil
    }
    return Users(proof: proof, issuer: issuer)
  }

  private static func sharedSecret(_ section: Section) -> Users.Proof? {
    section.required("sharedSecret", section.secret(min: 32, "a secret")).map { .sharedSecret($0) }
  }
}

extension Section {
  /// A file with a key set, or the https URL of a key set.
  fileprivate var keySet: ValueParser<Shown<Settings.Users.Proof>> {
    let path = path
    return ValueParser.any.then(show: \.text) { text throws(ValueError) in
      guard !text.contains("://") else {
        guard let url = URLComponents(string: text), url.scheme?.lowercased() == "https",
          url.isOfServer, text.utf8.count <= 2_048
        else {
          throw ValueError(
            "'\(text)' is no https URL of a key set",
            remedy: "write https://host[:port]/path, without a user and a fragment")
        }
        return Shown(value: .keySetURL(KeySetAddress(url: text)), text: text)
      }
      let file = try path.read(text)
      let set = try Self.keySet(file)
      let count = set.keys.count == 1 ? "1 key" : "\(set.keys.count) keys"
      return Shown(value: .keySet(set), text: "\(file) (\(count))")
    }
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
