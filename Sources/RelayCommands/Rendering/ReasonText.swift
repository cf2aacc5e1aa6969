import RelayCore
import RelayWire

/// The reason of an explanation in two sentences: what the reason is, and what an operator can do.
struct ReasonText {
  private let sentence: String
  private let advice: String

  private init(_ sentence: String, advice: String) {
    (self.sentence, self.advice) = (sentence, advice)
  }

  /// For each code of the closed list: what it means, and what to do about it.
  private static let texts: [String: ReasonText] = [
    "no_effect": ReasonText(
      "the change had no effect: what it says held already, or a later change had settled it",
      advice: "nothing; if this is wrong, look at the producer's sequence numbers"),
    "other_user": ReasonText(
      "the change shares the zone with another user, or ends that", advice: "nothing"),
    "zone_not_visible": ReasonText(
      "the zone was neither the user's own nor shared with the user then",
      advice:
        "if the user should see the zone, let the producer report the share; a device that is "
        + "registered in another container or environment never sees it"),
    "on_its_way": ReasonText(
      "the change has not come to the user's partition yet",
      advice: "ask again in a second; if it stays, look at zonerelay status"),
    "unregistered": ReasonText(
      "the device was not registered then, or is not any more",
      advice: "let the app register its push token at each start"),
    "no_subscription": ReasonText(
      "no subscription of the user is for this database, zone and record type",
      advice: "let the app save a subscription for it"),
    "filter_not_met": ReasonText(
      "the subscription is for such changes, but its filters or its events exclude this one",
      advice:
        "compare the event's type with the subscription's firesOn, and the record's fields in the "
        + "producer's event with its filters"),
    "own_change": ReasonText(
      "the device made the change itself",
      advice: "nothing; a device is not woken for what it has"),
    "gathering": ReasonText(
      "further changes are gathered first", advice: "nothing; it is woken then"),
    "not_folded": ReasonText(
      "the store has not taken the change into the feeds yet",
      advice: "ask again in a second; if it stays, zonerelay status names the store's trouble"),
    "budget": ReasonText(
      "the device's budget is spent",
      advice:
        "nothing, the wake follows then; budget in the configuration sets how many there are"),
    "paced": ReasonText(
      "a change that wakes very many devices is spread over time",
      advice: "nothing, the wake follows then; smearing in the configuration sets the rate"),
    "resting": ReasonText(
      "the last attempt failed, and the device rests",
      advice:
        "nothing, it is tried again then; if it fails again, docs/troubleshooting.md explains the "
        + "provider's reason"),
    "quarantined": ReasonText(
      "the provider calls many devices dead at once, and none is believed yet",
      advice: "check the route's topic, environment and credential: zonerelay doctor"),
    "route_stopped": ReasonText(
      "the provider refuses the route or gives no answer",
      advice: "see: zonerelay status, zonerelay doctor"),
    "no_provider": ReasonText(
      "no provider is configured for the device's topic any more",
      advice: "add the route to the configuration and reload"),
    "queued": ReasonText("the device waits for its turn", advice: "ask again in a second"),
    "under_way": ReasonText("the wake is under way", advice: "ask again in some seconds"),
    "between_polls": ReasonText(
      "the courier waits for the device's next poll",
      advice: "nothing; a push follows if none comes"),
    "not_connected": ReasonText(
      "only the courier reaches the device, and the device is not connected",
      advice: "open the app; or register a push token"),
    "stopping": ReasonText("the daemon stops", advice: "start it again"),
    "told_by_courier": ReasonText(
      "the courier told the device, and a push was not needed",
      advice: "if the app did nothing, look at how it handles the courier's answer"),
    "already_told": ReasonText(
      "the alert of another notification told of it, too",
      advice: "if the app did nothing, let it fetch at every push"),
    "fetched": ReasonText(
      "the change was fetched or marked as read before a wake was due", advice: "nothing"),
    "withdrawn": ReasonText(
      "the subscription was deleted, or the zone is not visible any more", advice: "nothing"),
    "rejected": ReasonText(
      "the provider refused the push for good",
      advice: "docs/troubleshooting.md explains the provider's reason"),
    "crowded_out": ReasonText(
      "too many alerts waited, and newer ones took its place",
      advice: "limits.alertsPending in the configuration sets how many wait"),
    "retired": ReasonText(
      "the device was retired then, and got no push",
      advice:
        "let the app register its push token at each start; after 'displaced' nothing: another "
        + "registration has the push token now"),
  ]

  /// The sentence of a reason, with its detail, its wake and its times.
  static func sentence(_ reason: ExplainReport.Reason) -> String {
    var text = texts[reason.code]?.sentence ?? reason.code
    if let detail = reason.detail { text += ": \(detail)" }
    if let w = reason.w { text += ", wake \(w)" }
    if let at = reason.at { text += ", \(HumanFormat.moment(at))" }
    if let until = reason.until { text += ", until \(HumanFormat.moment(until))" }
    return text
  }

  static func advice(_ reason: ExplainReport.Reason) -> String? { texts[reason.code]?.advice }

  /// The codes that have a text; a test compares them with the core's list.
  static var codes: Set<String> { Set(texts.keys) }
}
