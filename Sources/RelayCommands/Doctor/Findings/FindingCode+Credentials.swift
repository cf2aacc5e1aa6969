extension FindingCode {
  static let apnsTokenRefused = FindingCode(
    "apns_token_refused", .credentials, "Apple refuses the provider token of a route",
    remedy: "compare key.keyID and key.teamID with Apple's developer account, and name the "
      + "AuthKey_….p8 of that key id, unchanged; a key that was revoked there is refused, too")
  static let apnsTokenExpired = FindingCode(
    "apns_token_expired", .credentials, "Apple calls a fresh provider token expired",
    remedy: "set the machine's clock right: timedatectl set-ntp true")
  static let apnsTokenUpdates = FindingCode(
    "apns_token_updates", .credentials, isWarning: true,
    "Apple got another provider token of this team less than 20 minutes ago",
    remedy: "wait 20 minutes; use one relay for a key, or give each relay a key of its own")
  static let apnsTopicRefused = FindingCode(
    "apns_topic_refused", .credentials, "Apple refuses the topic of a route",
    remedy: "write the app's bundle id as apns[].topic, and a key or certificate of the team that "
      + "owns the app")
  static let apnsCertificateRefused = FindingCode(
    "apns_certificate_refused", .credentials, "Apple refuses the client certificate of a route",
    remedy: "renew it in Apple's developer account for this app and this environment, put the "
      + "files in place, and reload")
  static let certificateExpired = FindingCode(
    "certificate_expired", .credentials, "the time of a client certificate is over or to come",
    remedy: "renew it in Apple's developer account, put the files in place, and reload")
  static let apnsUnanswered = FindingCode(
    "apns_unanswered", .credentials, "Apple's service did not answer a test push",
    remedy: "try again; if it stays so, look at what is between: a proxy or a firewall that does "
      + "not pass HTTP/2")
  static let apnsUnexpected = FindingCode(
    "apns_unexpected", .credentials, isWarning: true,
    "Apple answered a test push with something else than the doctor expects",
    remedy: "try again later; if it stays so, look the answer up in Apple's documentation")
  static let fcmAccountRefused = FindingCode(
    "fcm_account_refused", .credentials, "Google gives the service account no access token",
    remedy: "make a new key in the Firebase console (Project settings, Service accounts), name "
      + "its JSON file, and reload; a clock that is wrong is refused, too")
  static let fcmProjectRefused = FindingCode(
    "fcm_project_refused", .credentials, "the service account may not send to the project",
    remedy: "correct fcm.project, give the account the role Firebase Cloud Messaging API Admin, "
      + "and enable that API in the project")
  static let fcmUnanswered = FindingCode(
    "fcm_unanswered", .credentials, "FCM did not answer a test message",
    remedy: "try again; if it stays so, look at what is between: a proxy or a firewall that does "
      + "not pass HTTP/2")
  static let fcmUnexpected = FindingCode(
    "fcm_unexpected", .credentials, isWarning: true,
    "FCM answered a test message with something else than the doctor expects",
    remedy: "try again later; if it stays so, look the answer up in Google's documentation")
  static let webPushKeysMismatched = FindingCode(
    "webpush_keys_mismatched", .credentials,
    "the two halves of the Web Push key do not belong together",
    remedy: "name the unchanged file that zonerelay webpush keys made, and let apps subscribe with "
      + "the public key that belongs to it")
}
