extension FindingCode {
  static let changeDevice = FindingCode(
    "change_device", .change, "the relay does not register a device of the doctor",
    remedy: "with 401, the running daemon verifies users by other keys than this configuration "
      + "has: reload it, or give --user-token a token of this environment; with 404, it does not "
      + "have this environment yet: reload it; with 429 or 503, see zonerelay status")
  static let changeSubscription = FindingCode(
    "change_subscription", .change, "the relay does not take a subscription of the doctor",
    remedy: "the cause says why; docs/troubleshooting.md explains its code")
  static let changePost = FindingCode(
    "change_post", .change, "the relay does not accept a change of the doctor",
    remedy: "with 401, the running daemon has other producers than this configuration: reload it, "
      + "or give --producer-key the key of a producer; with 429 or 503, see zonerelay status")
  static let changeCourier = FindingCode(
    "change_courier", .change, "the courier does not tell the doctor's device of the change",
    remedy: "look at zonerelay status: a fold that lags, or a courier without room, comes first")
  static let changeFetch = FindingCode(
    "change_fetch", .change, "the change is not in what the doctor's device fetches",
    remedy: "please report it with the output of zonerelay doctor --json and zonerelay status "
      + "--json")
  static let changeAcknowledgement = FindingCode(
    "change_acknowledgement", .change, "the relay does not take the device's acknowledgement",
    remedy: "please report it with the output of zonerelay doctor --json and zonerelay status "
      + "--json")
  static let changeLeftovers = FindingCode(
    "change_leftovers", .change, isWarning: true, "something of the doctor is left in the relay",
    remedy: "run the doctor again once the relay answers: it removes what earlier runs left; "
      + "without it, the device lapses by itself")
  static let changeInterrupted = FindingCode(
    "change_interrupted", .change, "the doctor was interrupted before the change had arrived",
    remedy: "run it again; what it had made in the relay was removed")
}
