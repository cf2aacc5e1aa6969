import Foundation
import RelayCore
import RelayFeedback

extension Settings {
  /// Reads the webhook to which an environment's feedback is delivered.
  static func feedback(_ section: Section) -> WebhookSettings? {
    let url = section.required("url", .feedbackURL)
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE"))
    let timeout = section.value(
      "timeout", .span(Span(milliseconds: 100)...(.minutes(1))), default: .seconds(10))
    let keys = keys(section)
    guard let url, !keys.isEmpty else { return nil }
    if trustRoots != nil, url.hasPrefix("http:") {
      section.report(
        "trustRoots", "has nothing to serve", remedy: "remove it; it belongs to https")
      return nil
    }
    return WebhookSettings(url: url, keys: keys, trustRoots: trustRoots, timeout: timeout)
  }

  /// The most keys of one webhook. Two are enough to replace one key by another, and further keys
  /// only lengthen every delivery.
  private static let keysMax = 4

  private static func keys(_ section: Section) -> [WebhookSettings.Key] {
    let problemsBefore = section.diagnostics.problems.count
    let sections = section.sections("keys")
    let keys = sections.compactMap { item -> WebhookSettings.Key? in
      let id = item.required("id", .name(extra: "-", max: 32))
      let secret = item.required("path", item.webhookSecret)
      guard let id, let secret else { return nil }
      return WebhookSettings.Key(id: id, bytes: secret.value)
    }
    guard section.diagnostics.problems.count == problemsBefore else { return [] }
    reportRepeated(keys.map(\.id), in: "keys", "id", section)
    guard (1...keysMax).contains(keys.count) else {
      let cause =
        section.isGiven("keys") ? "lists \(keys.count), not 1 to \(keysMax)" : "is missing"
      section.report("keys", cause, remedy: "write keys: [{ id: k1, path: PATH }]; each key signs")
      return []
    }
    return keys
  }
}

extension Section {
  /// A file with a secret: `whsec_` and base64, as webhook libraries make it, or the key itself.
  fileprivate var webhookSecret: ValueParser<Shown<[UInt8]>> {
    secret.then(show: \.text) { secret throws(ValueError) in
      var key = secret.bytes
      if secret.text.hasPrefix("whsec_") {
        guard let decoded = Data(base64Encoded: String(secret.text.dropFirst(6))) else {
          throw ValueError(
            "\(secret.path) begins with whsec_, and what follows is no base64",
            remedy: "make one with: echo whsec_$(openssl rand -base64 32)")
        }
        key = [UInt8](decoded)
      }
      guard (24...1_024).contains(key.count) else {
        throw ValueError(
          "\(secret.path) holds a key of \(key.count) bytes",
          remedy: "put one of 24 to 1024 bytes into it: echo whsec_$(openssl rand -base64 32)")
      }
      return Shown(value: key, text: "\(secret.path) (a key of \(key.count) bytes, masked)")
    }
  }
}

extension ValueParser where Value == String {
  /// An https URL; http is allowed for a server on the same machine.
  fileprivate static var feedbackURL: ValueParser {
    ValueParser(
      "is no https URL",
      remedy: "write https://host[:port]/path; http is for servers on 127.0.0.1 alone",
      show: { $0 },
      parse: { text in
        guard let url = URLComponents(string: text), url.isOfServer, text.utf8.count <= 2_048 else {
          return nil
        }
        let scheme = url.scheme?.lowercased()
        let isHere = ["127.0.0.1", "[::1]", "::1", "localhost"].contains(url.host)
        return scheme == "https" || scheme == "http" && isHere ? text : nil
      })
  }
}
