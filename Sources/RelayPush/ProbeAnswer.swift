import CCurl
package import RelayCore

/// What a provider answered when `zonerelay doctor` tried a credential. No device gets anything by
/// such a try.
package struct ProbeAnswer: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The provider's own word is `reason`; nil if the answer had none.
    case answered(status: Int, reason: String?)
    /// Google gave no access token, so FCM itself was not asked.
    case noToken(String)
    /// There is no answer; the text says why.
    case unanswered(String)
  }

  package var outcome: Outcome
  /// The provider's clock when it answered (`Date`); nil if it did not tell.
  package var date: Instant?

  package init(_ outcome: Outcome, date: Instant? = nil) {
    self.outcome = outcome
    self.date = date
  }

  init(_ outcome: RelayPush.Outcome, reason: (Response) -> String?) {
    switch outcome {
    case .failed(let failure): self.init(.unanswered(failure.message))
    case .answered(let response):
      self.init(
        .answered(status: response.status, reason: reason(response)),
        date: response.header(Self.dateField).flatMap(Self.instant))
    }
  }

  static let dateField = "date"

  private static func instant(_ field: String) -> Instant? {
    let seconds = zr_curl_date(field)
    return seconds < 0 ? nil : Instant(milliseconds: seconds * 1_000)
  }
}

extension RequestShape {
  /// This shape, whose answers also tell the provider's clock.
  var withDate: RequestShape {
    var shape = self
    shape.kept.append(ProbeAnswer.dateField)
    return shape
  }
}
