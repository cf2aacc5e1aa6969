import Crypto
import Foundation
@testable import RelayHTTP
@testable import RelayPush
import RelayWire

/// Parsers of keys and certificates in files that operators name.
extension FuzzedParser {
  static let fromKeyFiles: [FuzzedParser] = [
    // The first byte names the kind of the other bytes, which are DER.
    FuzzedParser("pem", seeds: keySeeds) { bytes throws(Defect) in
      let kind = kinds[Int(bytes.first ?? 0) % kinds.count]
      let pem = pem(kind, Array(bytes.dropFirst()))
      _ = try? APNsSettings.Key(pem: pem, keyID: "ABCDE12345", teamID: "TEAM123456")
      _ = try? WebPushSettings(subject: "mailto:a@example.com", key: pem)
      _ = try? ProducerKey(pem: pem)
      let path = NSTemporaryDirectory() + "zonerelay-fuzz-key-\(UUID().uuidString).pem"
      // The system cleans up files that stay.
      defer { try? FileManager.default.removeItem(atPath: path) }
      do {
        try Data(pem.utf8).write(to: URL(fileURLWithPath: path))
      } catch {
        throw Defect(reason: "there is no place for a key: \(error)")
      }
      let files = EngineSettings.ClientCertificate(certificate: path, key: path)
      guard let certificate = try? ClientCertificate(files) else { return }
      _ = certificate.misfit(path, at: now)
      _ = certificate.summary
    }
  ]

  private static let kinds = ["CERTIFICATE", "PRIVATE KEY", "EC PRIVATE KEY", "PUBLIC KEY"]

  private static func pem(_ kind: String, _ bytes: [UInt8]) -> String {
    let text = Array(Base64.text(bytes))
    let lines = stride(from: 0, to: text.count, by: 64).map {
      String(text[$0..<min($0 + 64, text.count)]) + "\n"
    }
    return "-----BEGIN \(kind)-----\n\(lines.joined())-----END \(kind)-----\n"
  }

  private static var keySeeds: [[UInt8]] {
    var seeds = [[0] + (Base64.bytes(certificate) ?? [])]
    // Nearly any number of 32 bytes is a key.
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: Array(1...32)) else {
      return seeds
    }
    seeds.append([1] + key.derRepresentation)
    seeds.append([3] + key.publicKey.derRepresentation)
    return seeds
  }

  /// A self-signed certificate with the extensions of Apple's certificates: an environment, and a
  /// list of topics.
  private static let certificate =
    "MIIBwTCCAWegAwIBAgIUfeuOv6i327Dt7FrkT7LicKojtSkwCgYIKoZIzj0EAwIwLzEKMAgGA1UEAwwBYTEhMB8G"
    + "CgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLm5vdGVzMCAXDTI2MTEyMjEyMTk1M1oYDzIxMjYxMDI5MTIxOTUzWjAv"
    + "MQowCAYDVQQDDAFhMSEwHwYKCZImiZPyLGQBAQwRY29tLmV4YW1wbGUubm90ZXMwWTATBgcqhkjOPQIBBggqhkjO"
    + "PQMBBwNCAATgNP6chbz4Fk4iyJkqZ9n5TZ3ROPQLucLkKQ4c/tzm22YNvm1qlw5IX+nSS8cPsJUKBwiCKbT9WaJ1"
    + "ACK1ysnUo18wXTAQBgoqhkiG92NkBgMBBAIFADAqBgoqhkiG92NkBgMGBBwwGgwRY29tLmV4YW1wbGUubm90ZXMw"
    + "BQwDYXBwMB0GA1UdDgQWBBSowzwUTKyx51OEQjhKP9Bf1lczDzAKBggqhkjOPQQDAgNIADBFAiBgz7/Sl9VgUVbA"
    + "NzErvoynt2aNB4eXbmPJ1/gWgphxmgIhALZzWVD7kPlrqhFxRPLegB6tOTBwWKqZD0oGVsPA3DF4"
}
