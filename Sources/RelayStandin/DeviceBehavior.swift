/// How the stand-in treats a device, chosen by the beginning of its token.
///
/// The token's text begins with the word of its behaviour (`dead01…`), or with the ASCII letters of
/// the word in hexadecimal (`676f6e65…` for `gone…`). A client that keeps tokens as bytes must use
/// the second form for a word that is not hexadecimal.
enum DeviceBehavior: String, CaseIterable {
  case ordinary, dead, gone, busy, fail, slow, mute
  /// The device is known only in Apple's environment of this name.
  case development, production

  init(token: String) {
    let text = token.lowercased()
    self =
      Self.allCases.first {
        $0 != .ordinary && (text.hasPrefix($0.rawValue) || text.hasPrefix($0.wordInHex))
      } ?? .ordinary
  }

  /// The refusal of every push to the device; nil if the pushes are not refused.
  var refusal: APNsReason? {
    switch self {
    case .ordinary, .slow, .mute, .development, .production: nil
    case .dead: .badDeviceToken
    case .gone: .unregistered
    case .busy: .tooManyRequests
    case .fail: .internalServerError
    }
  }

  /// The milliseconds for which an answer about the device is delayed.
  var delay: Int64 { self == .slow ? StandinSettings.slowSeconds * 1_000 : 0 }

  /// True if the token belongs to the environment, or names no environment.
  func isKnown(in environment: String?) -> Bool {
    guard let environment, self == .development || self == .production else { return true }
    return rawValue == environment
  }

  private var wordInHex: String {
    // Each letter has two digits.
    rawValue.utf8.map { String($0, radix: 16) }.joined()
  }
}
