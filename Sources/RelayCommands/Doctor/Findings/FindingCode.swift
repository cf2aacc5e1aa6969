/// One thing that can be wrong, with the sentence that the doctor prints, and the remedy.
///
/// The text of a code never changes: scripts look for it in `doctor --json`, and operators in
/// docs/troubleshooting.md, which has the same sentences.
struct FindingCode: Hashable, Sendable {
  let text: String
  let group: CheckGroup
  let sentence: String
  let remedy: String
  /// True if the relay works in spite of this finding.
  let isWarning: Bool

  init(
    _ text: String, _ group: CheckGroup, isWarning: Bool = false, _ sentence: String,
    remedy: String
  ) {
    self.text = text
    self.group = group
    self.sentence = sentence
    self.remedy = remedy
    self.isWarning = isWarning
  }

  /// Every code, in the order of the groups.
  static let all = [
    configurationBad, secretUnreadable, secretOpen, storeClosed, clockUnset, clockAhead,
    clockBehind, clockDiffers, clockJumped, openFilesTooFew, diskFull, diskReadOnly, diskUnwritable,
    diskNearlyFull, diskSlow, storeRefused, tokenKeyForeign, tokenKeyUnusable, tokenKeyMissing,
    portTaken, addressForeign, portForbidden, portNotServed, daemonStopped, daemonSilent,
    daemonUnhealthy, hostUnknown, serverUnreachable, serverUntrusted, keysUnusable,
    publicURLElsewhere, originRefused, apnsTokenRefused, apnsTokenExpired, apnsTokenUpdates,
    apnsTopicRefused, apnsCertificateRefused, certificateExpired, apnsUnanswered, apnsUnexpected,
    fcmAccountRefused, fcmProjectRefused, fcmUnanswered, fcmUnexpected, webPushKeysMismatched,
    changeDevice, changeSubscription, changePost, changeCourier, changeFetch, changeAcknowledgement,
    changeLeftovers, changeInterrupted,
  ]

  static let configurationBad = FindingCode(
    "configuration_bad", .configuration, "the configuration is bad",
    remedy: "correct every problem that is listed; zonerelay check lists the same ones")
}
