import RelayCore
import RelayPush

extension Settings {
  /// A route to browsers' push services. Each device's address names the host of its push service.
  package struct WebPush: Sendable {
    /// `mailto:` or `https:` address that a push service may contact when something is wrong.
    package var subject: String
    /// A P-256 private key in PEM, as `zonerelay webpush keys` makes it.
    package var key: Secret
    /// True if endpoints may use plain HTTP, and may have loopback and private addresses.
    package var allowPrivateAddresses = false
    /// PEM file with the authorities to trust instead of the system's.
    package var trustRoots: String?
  }

  static func webPush(_ section: Section) -> WebPush? {
    let subject = section.required("subject", .text()).flatMap { text in
      section.proven([:], else: "subject") { () throws(PushProblem) in
        try WebPushSettings.subject(text)
      }
    }
    let pem = section.secret(min: 1, "a P-256 private key in PEM")
    let key = section.required("key", pem).flatMap { secret in
      section.proven([:], else: "key") { () throws(PushProblem) in
        _ = try WebPushSettings.key(pem: secret.text)
        return secret
      }
    }
    let allowsPrivate = section.value("allowPrivateAddresses", .flag, default: false)
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE")).flatMap { path in
      section.proven([:], else: "trustRoots") { () throws(PushProblem) in
        try WebPushSettings.trustRoots(path)
      }
    }
    guard let subject, let key else { return nil }
    return WebPush(
      subject: subject, key: key, allowPrivateAddresses: allowsPrivate, trustRoots: trustRoots)
  }
}

extension WebPushSettings {
  /// - Throws: `PushProblem` naming what is wrong and the remedy.
  init(_ settings: Settings.WebPush, attemptTimeout: Span) throws(PushProblem) {
    try self.init(
      subject: settings.subject, key: settings.key.text,
      allowPrivateAddresses: settings.allowPrivateAddresses, trustRoots: settings.trustRoots,
      attemptTimeout: attemptTimeout)
  }
}
