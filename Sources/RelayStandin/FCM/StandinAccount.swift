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
      do {
        key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
      } catch {
        throw StandinError(
          code: .keys, message: "cannot make an RSA key: \(error)",
          remedy: "report this: it depends on nothing outside the program")
      }
      return
    }
    let text = try files.read(path)
    do {
      let file = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
      key = try _RSA.Signing.PrivateKey(pemRepresentation: file["private_key"] ?? "")
    } catch {
      throw StandinError(
        code: .keys, message: "\(path) holds no service account: \(error)",
        remedy: "remove the file, and a new one is made")
    }
  }

  func write(_ files: StandinFiles, tokenURL: String) throws(StandinError) {
    let file = [
      "type": "service_account", "project_id": FCMStandin.project, "private_key_id": Self.keyID,
      "private_key": key.pkcs8PEMRepresentation + "\n", "client_email": Self.email,
      "token_uri": tokenURL,
    ]
    let text: String
    do {
      text = try PushLog.json(file)
    } catch {
      throw StandinError(
        code: .files, message: "the service account cannot be written: \(error)",
        remedy: "report this: it depends on nothing outside the program")
    }
    try files.write(text + "\n", files.serviceAccount, mode: 0o600)
  }
}
