import RelayWire

extension ExplainReport: Readable {
  func lines(_ paint: Paint) -> [String] {
    var lines = devices.flatMap { $0.lines(paint) }
    for change in changes { lines += [""] + change.lines(paint) }
    if changes.isEmpty { lines.append("no change is remembered for this question") }
    if moreChanges { lines.append("older changes are left out: ask for more with --last") }
    return lines + ["", memory]
  }

  /// When the flight recorder's memory begins, and at how many places entries are missing.
  private var memory: String {
    guard let knownSince else {
      return gaps > 0
        ? "what the flight recorder held is missing" : "the flight recorder has no entries yet"
    }
    let places = gaps == 1 ? "one place" : "\(gaps) places"
    let missing = gaps > 0 ? "; entries are missing in \(places)" : ""
    return "the flight recorder's memory begins at \(HumanFormat.moment(knownSince))\(missing)"
  }
}

extension ExplainReport.DeviceStanding {
  fileprivate func lines(_ paint: Paint) -> [String] {
    let state = retired.map { "retired, \($0)" } ?? (isRegistered ? "registered" : "not registered")
    var lines = [
      "device \(paint.strong(clientId))  \(state)",
      "  user \(user), \(container), \(environment)"
        + (route.map { ", \($0.transport)\($0.topic.isEmpty ? "" : " \($0.topic)")" } ?? ""),
    ]
    for part in waiting {
      let why = part.reason.map { ReasonText.sentence($0) } ?? "told, and not acknowledged yet"
      lines.append("  waiting: \(part.what): \(why)")
    }
    if waiting.isEmpty, isRegistered { lines.append("  nothing waits to be told") }
    return lines
  }
}

extension ExplainReport.ExplainedChange {
  fileprivate func lines(_ paint: Paint) -> [String] {
    var lines = [
      "change at \(HumanFormat.moment(change.at)), notification \(change.notificationID ?? "-")",
      "  \(change.sentence)",
    ]
    for device in devices { lines += device.lines(paint) }
    if devices.isEmpty {
      lines.append("  it fired no subscription of a device; name one with --device to learn why")
    }
    if moreDevices > 0 {
      lines.append("  and \(moreDevices) further devices: name one, or ask for fewer changes")
    }
    return lines
  }
}

extension ExplainReport.ExplainedDevice {
  fileprivate func lines(_ paint: Paint) -> [String] {
    let device = "device \(clientId) of \(user) in \(container), \(environment)"
    var lines = ["  \(device): \(result.text(paint))"]
    if let reason = result.reason, let advice = ReasonText.advice(reason) {
      lines.append("    what to do: \(advice)")
    }
    for delivery in deliveries {
      var text = "    subscription \(delivery.subscriptionID): \(delivery.result.text(paint))"
      if let at = delivery.toldAt { text += "; told \(HumanFormat.moment(at))" }
      if let how = delivery.acknowledged, let at = delivery.acknowledgedAt {
        text += "; acknowledged by \(how), \(HumanFormat.moment(at))"
      }
      lines.append(text)
    }
    return lines + story.flatMap { $0.lines(paint) }.map { "    \($0)" }
  }
}

extension ExplainReport.Result {
  fileprivate func text(_ paint: Paint) -> String {
    switch outcome {
    case "woken":
      paint.good("woken") + " by wake \(w ?? 0)" + (apnsID.map { ", apns-id \($0)" } ?? "")
    case "not_woken":
      paint.bad("not woken") + (reason.map { " [\($0.code)]: \(ReasonText.sentence($0))" } ?? "")
    default: "not known: entries are missing that would tell"
    }
  }
}
