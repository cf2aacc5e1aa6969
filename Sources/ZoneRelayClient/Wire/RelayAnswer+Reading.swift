internal import Foundation

extension RelayAnswer {
  /// Why the relay, or a proxy before it, did not do what it was asked.
  func reason(_ path: String) -> String {
    [path, "\(status)", error?.serverErrorCode, error?.reason].compactMap(\.self)
      .joined(separator: ": ")
  }

  /// Whether the relay says that the question's token has expired.
  var isExpiry: Bool { status == 410 && error?.serverErrorCode == ErrorAnswer.tokenExpired }

  /// How long the relay asks the client to wait; at most a day.
  var retryAfter: Duration? {
    let seconds = headers["retry-after"].flatMap(Double.init) ?? error?.retryAfter
    guard let seconds, seconds >= 0 else { return nil }
    return .seconds(min(seconds, 86_400))
  }

  private var error: ErrorAnswer? {
    // The answer of a proxy need not be JSON.
    try? JSONDecoder().decode(ErrorAnswer.self, from: body)
  }
}
