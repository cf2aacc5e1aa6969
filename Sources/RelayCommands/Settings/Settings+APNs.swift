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
    do throws(PushProblem) {
      // Find now what the sender would refuse at start: this reads and matches the certificates.
      let made = try APNsSettings(route, limits: EngineLimits())
      if let certificate = made.certificate {
        section.note("certificate", certificate.summary)
      }
    } catch {
      section.report(error.key, ValueError(error))
      return nil
    }
    return route
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
        "key",
        ValueError(
          "is missing", remedy: "add key: { path, keyID, teamID } or certificate: { path, key }"))
      return nil
    case (let key?, nil): return providerKey(key)
    case (nil, let certificate?): return clientCertificate(certificate)
    case (let key?, let certificate?):
      _ = (providerKey(key), clientCertificate(certificate))
      section.report(
        "certificate", ValueError("stands beside key", remedy: "keep one of the two credentials"))
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
    let path = section.required("path", section.pem("CERTIFICATE"))
    let key = section.required("key", section.pem("PRIVATE KEY"))
    guard let path, let key else { return nil }
    return .certificate(CertificateFiles(certificate: path, key: key))
  }
}

extension Section {
  /// A P-256 private key in PEM.
  fileprivate var signingKey: ValueParser<Secret> {
    let plain = secret(min: 1, "a P-256 private key in PEM")
    return ValueParser(
      read: { text throws(ValueError) in
        let secret = try plain.read(text)
        do {
          _ = try P256.Signing.PrivateKey(pemRepresentation: secret.text)
        } catch {
          throw ValueError(
            "\(secret.path) holds no P-256 private key in PEM",
            remedy: "name the .p8 file of the provider key, unchanged")
        }
        return secret
      }, show: \.description)
  }
}

extension ValueError {
  /// What is wrong with a route. The code comes first, because docs/troubleshooting.md explains it.
  init(_ problem: PushProblem) { self.init(problem.text, remedy: problem.remedy) }
}

extension PushProblem {
  /// The key of the route that the problem concerns.
  fileprivate var key: String {
    switch code {
    case .trustRoots: "trustRoots"
    case .certificate, .certificateTime, .certificateTopic: "certificate"
    case .certificateKey: "certificate.key"
    case .endpoint: "endpoint"
    case .topic: "topic"
    default: "key"
    }
  }
}

extension APNsSettings.Endpoint {
  /// Nil if the text is not a URL with a host.
  fileprivate init?(url text: String) {
    guard let url = URLComponents(string: text), let host = url.host else { return nil }
    self.init(host: host.trimmingBrackets, port: url.port ?? 443)
  }

  var url: String { "https://\(host):\(port)" }
}

extension String {
  /// A URL's IPv6 host without its brackets.
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}
