internal import Foundation

extension RelayAnswer {
  /// The error for an answer with which the relay, or a proxy before it, refuses or fails a
  /// request.
  func failure(_ path: String, at now: Date) -> RelayError {
    switch status {
    // A 408 means that the body came too slowly. The client handles the relay's own 410 before this
    // call, so a 410 here comes from a proxy before the relay.
    case 408, 410, 429, 500...599:
      RelayError(.busy, reason(path), retryAfter: retryAfter(at: now))
    // A relay does not redirect. So this answer comes from a proxy, or from a network that asks its
    // user to sign in.
    case 300...399: RelayError(.badAnswer, reason(path))
    default: RelayError(.refused, reason(path))
    }
  }

  /// Why the relay, or a proxy before it, did not do what it was asked.
  func reason(_ path: String) -> String {
    [path, "\(status)", error?.serverErrorCode, error?.reason].compactMap(\.self)
      .joined(separator: ": ")
  }

  /// Whether the relay says that the question's token has expired.
  var isExpiry: Bool { status == 410 && error?.serverErrorCode == ErrorAnswer.tokenExpired }

  /// How long the relay, or a proxy before it, asks the client to wait; at most a day. A date
  /// counts from the answer's own `Date`, so that a wrong clock of the device does no harm.
  ///
  /// - Parameter now: the device's time, for an answer without `Date`.
  func retryAfter(at now: Date) -> Duration? {
    ErrorAnswer.wait(waitSeconds(at: now) ?? error?.retryAfter)
  }

  private func waitSeconds(at now: Date) -> Double? {
    guard let text = headers["retry-after"] else { return nil }
    if let seconds = Double(text) { return seconds }
    let begin = headers["date"].flatMap(HTTPDate.read) ?? now
    return HTTPDate.read(text)?.timeIntervalSince(begin)
  }

  private var error: ErrorAnswer? {
    // The answer of a proxy need not be JSON.
    try? JSONDecoder().decode(ErrorAnswer.self, from: body)
  }
}
