import RelayCore
import RelayWire

/// The reasons of explanations in sentences: what holds, and what an operator can do.
enum ReasonText {
  /// For each code of the closed list: what it means, and what to do about it.
  private static let texts: [String: (sentence: String, advice: String)] = [
    "no_effect": (
      "the change had no effect: what it says held already, or a later change had settled it",
      "nothing; if this is wrong, look at the producer's sequence numbers"
    ),
    "other_user": (
      "the change shares the zone with another user, or ends that", "nothing"
    ),
    "zone_not_visible": (
      "the zone was neither the user's own nor shared with the user then",
      "if the user should see the zone, let the producer report the share; a device that is "
        + "registered in another container or environment never sees it"
    ),
    "on_its_way": (
      "the change has not come to the user's partition yet",
      "ask again in a second; if it stays, look at zonerelay status"
    ),
    "unregistered": (
      "the device was not registered then, or is not any more",
      "let the app register its push token at each start"
    ),
    "no_subscription": (
      "no subscription of the user is for this database, zone and record type",
      "let the app save a subscription for it"
    ),
    "filter_not_met": (
      "the subscription is for such changes, but its filters or its events exclude this one",
      "compare the event's type with the subscription's firesOn, and the record's fields in the "
        + "producer's event with its filters"
    ),
    "own_change": (
      "the device made the change itself",
      "nothing; a device is not woken for what it has"
    ),
    "gathering": ("further changes are gathered first", "nothing; it is woken then"),
    "not_folded": (
      "the store has not taken the change into the feeds yet",
      "ask again in a second; if it stays, zonerelay status names the store's trouble"
    ),
    "budget": (
      "the device's budget is spent",
      "nothing, the wake follows then; budget in the configuration sets how many there are"
    ),
    "paced": (
      "a change that wakes very many devices is spread over time",
      "nothing, the wake follows then; smearing in the configuration sets the rate"
    ),
    "resting": (
      "the last attempt failed, and the device rests",
      "nothing, it is tried again then; if it fails again, docs/troubleshooting.md explains the "
        + "provider's reason"
    ),
    "quarantined": (
      "the provider calls many devices dead at once, and none is believed yet",
      "check the route's topic, environment and credential: zonerelay doctor"
    ),
    "route_stopped": (
      "the provider refuses the route or gives no answer", "see: zonerelay status, zonerelay doctor"
    ),
    "no_provider": (
      "no provider is configured for the device's topic any more",
      "add the route to the configuration and reload"
    ),
    "queued": ("the device waits for its turn", "ask again in a second"),
    "under_way": ("the wake is under way", "ask again in some seconds"),
    "between_polls": (
      "the courier waits for the device's next poll", "nothing; a push follows if none comes"
    ),
    "not_connected": (
      "only the courier reaches the device, and the device is not connected",
      "open the app; or register a push token"
    ),
    "stopping": ("the daemon stops", "start it again"),
    "told_by_courier": (
      "the courier told the device, and a push was not needed",
      "if the app did nothing, look at how it handles the courier's answer"
    ),
    "already_told": (
      "the alert of another notification told of it, too",
      "if the app did nothing, let it fetch at every push"
    ),
    "fetched": ("the device fetched the change before a wake was due", "nothing"),
    "withdrawn": (
      "the subscription was deleted, or the zone is not visible any more", "nothing"
    ),
    "rejected": (
      "the provider refused the push for good",
      "docs/troubleshooting.md explains the provider's reason"
    ),
    "crowded_out": (
      "too many alerts waited, and newer ones took its place",
      "limits.alertsPending in the configuration sets how many wait"
    ),
    "retired": (
      "the device was retired then, and got no push",
      "let the app register its push token at each start; after 'displaced' nothing: another "
        + "registration has the push token now"
    ),
  ]

  /// What holds, with its time, its wake and its detail.
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
