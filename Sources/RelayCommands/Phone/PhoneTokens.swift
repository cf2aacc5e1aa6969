import Foundation
import ZoneRelayClient

/// Where a phone's user tokens come from.
enum PhoneTokens: Sendable {
  case file(String)
  case secret([UInt8], user: String, container: String)

  func token() async throws -> UserToken {
    switch self {
    case .file(let path): return try PhoneFiles.token(path)
    case .secret(let secret, let user, let container):
      return UserToken(
        user: user,
        text: try await SignedUserToken.sign(user: user, container: container, secret: secret))
    }
  }
}

/// Files that the options of a phone name.
enum PhoneFiles {
  /// The file's text without its final newline.
  ///
  /// - Throws: `Failure` naming the option.
  static func text(_ path: String, option: String) throws -> String {
    do {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      return text.hasSuffix("\n") ? String(text.dropLast()) : text
    } catch {
      throw Failure(
        .failed, "\(option): \(path) cannot be read: \(error.localizedDescription)",
        hint: "correct the path, or let this user read the file")
    }
  }

  static func token(_ path: String) throws -> UserToken {
    guard let token = UserToken(jwt: try text(path, option: "--user-token")) else {
      throw Failure(
        .failed, "--user-token: \(path) holds no JSON Web Token with a sub",
        hint: "the file must hold one line: the token that your sign-in service makes")
    }
    return token
  }
}
