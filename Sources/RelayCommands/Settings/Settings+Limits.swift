import RelayCore

extension Settings {
  /// Reads every limit of requests. No limit may be 0, because the relay could then never do what
  /// the limit bounds.
  mutating func readRequestLimits(_ section: Section) {
    section.read("eventsPerRequest", .count(1...10_000), into: &requests.eventsPerRequest)
    section.read("eventBytes", .size(1_024...(64 << 20)), into: &requests.eventBytes)
    section.read("valuesPerRecord", .count(1...10_000_000), into: &requests.valuesPerRecord)
    section.read("requestBodyBytes", .size(1_024...(64 << 20)), into: &requests.requestBodyBytes)
    section.read(
      "requestBodyBytesInFlight", .size(1_024...(64 << 30)),
      into: &requests.requestBodyBytesInFlight)
    section.read("connections", .count(1...1_000_000), into: &requests.connections)
    section.read(
      "connectionsPerAddress", .count(1...1_000_000), into: &requests.connectionsPerAddress)
    section.read("writesPerMinute", .count(1...10_000_000), into: &requests.writesPerMinute)
    section.read(
      "failedAuthenticationsPerMinute", .count(1...100_000),
      into: &requests.failedAuthenticationsPerMinute)
    section.read("inboxChanges", .count(1...10_000_000), into: &requests.inboxChanges)
    section.read("inboxBytes", .size(1_024...(64 << 30)), into: &requests.inboxBytes)
    section.read("waitingReaders", .count(1...1_000_000), into: &requests.waitingReaders)
    section.read("answerWithin", .span(.seconds(1)...(.minutes(5))), into: &requests.answerWithin)
    section.check(
      "inboxChanges", requests.inboxChanges, isAtLeast: requests.eventsPerRequest,
      of: "limits.eventsPerRequest", else: "is less than one request may carry"
    ) { "\($0)" }
    section.check(
      "requestBodyBytesInFlight", requests.requestBodyBytesInFlight,
      isAtLeast: requests.requestBodyBytes, of: "limits.requestBodyBytes",
      else: "is less than one body may have", Quantity.text(bytes:))
  }

  /// Reads the limits of the core that operators may set. No limit may be 0, because the relay
  /// could then never do what the limit bounds.
  mutating func readCoreLimits(_ section: Section) {
    let many = ValueParser.count(1...100_000_000)
    // One change may fire all of a user's subscriptions. Each notification gets a position of its
    // own, and one fact has 65,536 positions.
    let perFact = ValueParser.count(1...65_536)
    section.read("subscriptionsPerUser", perFact, into: &limits.subscriptionsPerUser)
    section.read(
      "subscriptionBytesPerUser", .size(1_024...(1 << 30)), into: &limits.subscriptionBytesPerUser)
    section.read("devicesPerUser", many, into: &limits.devicesPerUser)
    section.read("retiredFor", .span(.hours(1)...(.days(3_650))), into: &limits.retiredFor)
    section.read("participantsPerZone", many, into: &limits.participantsPerZone)
    section.read("zonesPerUser", many, into: &limits.zonesPerUser)
    section.read("recordsPerZone", many, into: &limits.recordsPerZone)
    // One request may mark all of a user's notifications as read.
    section.read("notificationsPerUser", perFact, into: &limits.notificationsPerUser)
    // One request may set up to 200 read marks.
    section.read("readMarksPerUser", .count(200...10_000_000), into: &limits.readMarksPerUser)
    section.read("pageEntries", .count(1...200), into: &limits.pageEntries)
    section.read("payloadBytes", .size(1_024...4_096), into: &limits.payloadBytes)
    section.read(
      "valueBytesPerNotification", .size(1...4_096), into: &limits.valueBytesPerNotification)
    section.read("zonesPending", .count(1...1_024), into: &limits.zonesPending)
    section.read("alertsPending", .count(1...1_024), into: &limits.alertsPending)
    section.read("fanOuts", .count(1...10_000), into: &limits.fanOuts)
    section.read("forwardedMessages", many, into: &limits.forwardedMessages)
    section.read("forwardedBytes", .size(1_024...(64 << 30)), into: &limits.forwardedBytes)
    section.read("fanOutSlice", .count(1...100_000), into: &limits.fanOutSlice)
    section.read("rememberedIDs", .count(1...1_000_000_000), into: &limits.rememberedIDs)
    section.read("rememberedFor", .span(.seconds(1)...(.days(30))), into: &limits.rememberedFor)
    // The maximum equals the size of a sender's queue. A sender returns a push unsent if its
    // queue has no room.
    section.read("inFlightPerRoute", .count(1...4_096), into: &limits.inFlightPerRoute)
    section.read("courierConnections", .count(1...1_000_000), into: &limits.courierConnections)
    section.read("feedbackItems", .count(1...10_000_000), into: &limits.feedbackItems)
    section.read("gapAfter", .span(.seconds(1)...(.days(1))), into: &limits.gapAfter)
    section.read("missingPerZone", .count(1...1_000_000), into: &limits.missingPerZone)
    section.read("missingFor", .span(.seconds(1)...(.days(30))), into: &limits.missingFor)
    section.read("settledPerZone", .count(1...1_000_000), into: &limits.settledPerZone)
    section.read("sourcesPerZone", .count(1...10_000), into: &limits.sourcesPerZone)
  }
}
