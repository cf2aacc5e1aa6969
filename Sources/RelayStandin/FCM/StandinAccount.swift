import CryptoExtras
import Foundation

/// The service account of an FCM stand-in, in the form of Google's key file.
struct StandinAccount: Sendable {
  static let email = "relay@zonerelay-standin.iam.gserviceaccount.com"
  private static let keyID = "0123456789abcdef0123456789abcdef01234567"
  let key: _RSA.Signing.PrivateKey

  /// Reads the key from the service account's file, or makes a key if there is no such file.
  init(_ files: StandinFiles) throws(StandinError) {
    let path = files.serviceAccount
    guard StandinFiles.exists(path) else {
      key = try StandinError.explain(
        .keys, "cannot make an RSA key",
        remedy: "report this: it depends on nothing outside the program"
      ) {
        try _RSA.Signing.PrivateKey(keySize: .bits2048)
      }
      return
    }
    key = try files.parse(path, "service account") { text in
      let file = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
      return try _RSA.Signing.PrivateKey(pemRepresentation: file["private_key"] ?? "")
    }
  }

  func write(_ files: StandinFiles, tokenURL: String) throws(StandinError) {
    let file = [
      "type": "service_account", "project_id": FCMStandin.project, "private_key_id": Self.keyID,
      "private_key": key.pkcs8PEMRepresentation + "\n", "client_email": Self.email,
      "token_uri": tokenURL,
    ]
    let text = try StandinError.explain(
      .files, "the service account cannot be written",
      remedy: "report this: it depends on nothing outside the program"
    ) {
      try PushLog.json(file)
    }
    try files.write(text + "\n", files.serviceAccount, mode: 0o600)
  }
}
