import Crypto
import Foundation
import RelayCore
import RelayPush

extension Settings {
  static func route(_ section: Section, _ environment: Environment) -> APNs? {
    let topic = section.required("topic", .name())
    let credential = credential(section)
    let endpoint = APNsSettings.Endpoint(
      url: section.value(
        "endpoint", .url(schemes: ["https"]),
        default: APNsSettings.Endpoint.apple(environment).url))
    let other = otherEndpoint(section, of: endpoint)
    let trustRoots = section.value("trustRoots", section.pem("CERTIFICATE"))
    guard let topic, let credential, let endpoint else { return nil }
    let route = APNs(
      topic: topic, credential: credential, endpoint: endpoint, environment: environment,
      otherEndpoint: other, trustRoots: trustRoots)
    let keys: [PushProblem.Code: String] = [
      .trustRoots: "trustRoots", .certificate: "certificate", .certificateTime: "certificate",
      .certificateTopic: "certificate", .certificateKey: "certificate.key",
      .endpoint: "endpoint", .topic: "topic",
    ]
    // `APNsSettings` reads the certificates, and checks that the client certificate is for the
    // topic and belongs to its key.
    let made = section.proven(keys, else: "key") { () throws(PushProblem) in
      try APNsSettings(route, limits: EngineLimits())
    }
    if let certificate = made?.certificate { section.note("certificate", certificate.summary) }
    return made.map { _ in route }
  }

  /// The endpoint of the other environment. If `endpoint` is Apple's own, there is a default; if
  /// `endpoint` is a stand-in, only the operator can name the other endpoint.
  private static func otherEndpoint(
    _ section: Section, of endpoint: APNsSettings.Endpoint?
  ) -> APNsSettings.Endpoint? {
    let kind = ValueParser<String>.url(schemes: ["https"])
    let name = "otherEndpoint"
    guard let endpoint, let environment = endpoint.appleEnvironment else {
      return section.value(name, kind).flatMap { APNsSettings.Endpoint(url: $0) }
    }
    let other = APNsSettings.Endpoint.apple(environment.other, port: endpoint.port)
    return APNsSettings.Endpoint(url: section.value(name, kind, default: other.url))
  }

  private static func credential(_ section: Section) -> APNs.Credential? {
    let (key, certificate) = (
      section.optionalSection("key"), section.optionalSection("certificate")
    )
    switch (key, certificate) {
    case (nil, nil):
      section.report(
        "key", "is missing",
        remedy: "add key: { path, keyID, teamID } or certificate: { path, key }")
      return nil
    case (let key?, nil): return providerKey(key)
    case (nil, let certificate?): return clientCertificate(certificate)
    case (let key?, let certificate?):
      _ = (providerKey(key), clientCertificate(certificate))
      section.report(
        "certificate", "stands beside key", remedy: "keep one of the two credentials")
      return nil
    }
  }

  private static func providerKey(_ section: Section) -> APNs.Credential? {
    let path = section.required("path", section.signingKey)
    let keyID = section.required("keyID", .name(extra: "", exactly: 10))
    let teamID = section.required("teamID", .name(extra: "", exactly: 10))
    guard let path, let keyID, let teamID else { return nil }
    return .key(path, keyID: keyID, teamID: teamID)
  }

  private static func clientCertificate(_ section: Section) -> APNs.Credential? {
    section.certificateFiles("path").map { .certificate(.init(certificate: $0, key: $1)) }
  }
}

extension Section {
  /// A P-256 private key in PEM.
  fileprivate var signingKey: ValueParser<Secret> {
    secret(min: 1, "a P-256 private key in PEM").checked { secret throws(ValueError) in
      do {
        _ = try P256.Signing.PrivateKey(pemRepresentation: secret.text)
      } catch {
        throw ValueError(
          "\(secret.path) holds no P-256 private key in PEM",
          remedy: "name the .p8 file of the provider key, unchanged")
      }
    }
  }
}

extension APNsSettings.Endpoint {
  /// Nil if the text is not a URL with a host.
  fileprivate init?(url text: String) {
    guard let url = URLComponents(string: text), let host = url.host else { return nil }
    self.init(
      host: host.hasPrefix("[") ? host.trimmingCharacters(in: ["[", "]"]) : host,
      port: url.port ?? 443)
  }

  var url: String {
    // An IPv6 address stands in brackets in a URL.
    "https://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
