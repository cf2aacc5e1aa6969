import RelayWire

/// Feedback items as lines for people.
struct FeedbackListing: Readable {
  var items: [FeedbackItem]
  var hasHeading: Bool

  func lines(_ paint: Paint) -> [String] {
    guard !items.isEmpty else { return ["no feedback"] }
    let heading = [
      "POSITION", "AT", "NEWS", "CLIENT", "USER", "CONTAINER", "ENVIRONMENT", "TRANSPORT", "TOKEN",
      "WHY",
    ]
    let rows = items.map { item in
      [
        "\(item.position)", HumanFormat.moment(item.at), item.type, item.clientId, item.user,
        item.container, item.environment, item.transport,
        item.tokenDigest.isEmpty ? "-" : item.tokenDigest, Self.why(item),
      ]
    }
    return TextTable.lines((hasHeading ? [heading] : []) + rows)
  }

  private static func why(_ item: FeedbackItem) -> String {
    if let reason = item.reason {
      return reason + (item.providerTime.map { ", known since \(HumanFormat.moment($0))" } ?? "")
    }
    guard let since = item.silentSince, let wakes = item.wakes else { return "-" }
    return "\(wakes) wakes unanswered since \(HumanFormat.moment(since))"
  }
}

/// A line of JSON that is printed in place of items that are no longer kept.
struct FeedbackMissed: Encodable {
  var type = "missed"
  var missedThrough: UInt64
}
