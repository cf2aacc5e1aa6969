import RelayCore

extension Settings {
  /// Reads every limit of the core and of requests. No limit may be 0, because a limit of 0 would
  /// block for ever.
  mutating func readLimits(_ section: Section) {
    readRequestLimits(section)
    readCoreLimits(section)
  }

  private mutating func readRequestLimits(_ section: Section) {
    requests.eventsPerRequest = section.value(
      "eventsPerRequest", .count(1...10_000), default: requests.eventsPerRequest)
    requests.eventBytes = section.value(
      "eventBytes", .size(1_024...(64 << 20)), default: requests.eventBytes)
    requests.valuesPerRecord = section.value(
      "valuesPerRecord", .count(1...10_000_000), default: requests.valuesPerRecord)
    requests.requestBodyBytes = section.value(
      "requestBodyBytes", .size(1_024...(64 << 20)), default: requests.requestBodyBytes)
    requests.requestBodyBytesInFlight = section.value(
      "requestBodyBytesInFlight", .size(1_024...(64 << 30)),
      default: requests.requestBodyBytesInFlight)
    requests.connections = section.value(
      "connections", .count(1...1_000_000), default: requests.connections)
    readCallerLimits(section)
    requests.inboxChanges = section.value(
      "inboxChanges", .count(1...10_000_000), default: requests.inboxChanges)
    requests.inboxBytes = section.value(
      "inboxBytes", .size(1_024...(64 << 30)), default: requests.inboxBytes)
    requests.waitingReaders = section.value(
      "waitingReaders", .count(1...1_000_000), default: requests.waitingReaders)
    requests.answerWithin = section.value(
      "answerWithin", .span(.seconds(1)...(.minutes(5))), default: requests.answerWithin)
    if requests.inboxChanges < requests.eventsPerRequest {
      section.report(
        "inboxChanges",
        ValueError(
          "\(requests.inboxChanges) is less than one request may carry",
          remedy: "make it at least limits.eventsPerRequest, \(requests.eventsPerRequest)"))
    }
    if requests.requestBodyBytesInFlight < requests.requestBodyBytes {
      section.report(
        "requestBodyBytesInFlight",
        ValueError(
          Quantity.text(bytes: requests.requestBodyBytesInFlight)
            + " is less than one body may have",
          remedy: "make it at least limits.requestBodyBytes, "
            + Quantity.text(bytes: requests.requestBodyBytes)))
    }
  }

  private mutating func readCallerLimits(_ section: Section) {
    requests.connectionsPerAddress = section.value(
      "connectionsPerAddress", .count(1...1_000_000), default: requests.connectionsPerAddress)
    requests.writesPerMinute = section.value(
      "writesPerMinute", .count(1...10_000_000), default: requests.writesPerMinute)
    requests.failedAuthenticationsPerMinute = section.value(
      "failedAuthenticationsPerMinute", .count(1...100_000),
      default: requests.failedAuthenticationsPerMinute)
  }

  private mutating func readCoreLimits(_ section: Section) {
    let many = ValueParser.count(1...100_000_000)
    // One change may fire all of a user's subscriptions. Each notification gets a position of its
    // own, and one fact has 65,536 positions.
    let perFact = ValueParser.count(1...65_536)
    limits.subscriptionsPerUser = section.value(
      "subscriptionsPerUser", perFact, default: limits.subscriptionsPerUser)
    limits.subscriptionBytesPerUser = section.value(
      "subscriptionBytesPerUser", .size(1_024...(1 << 30)),
      default: limits.subscriptionBytesPerUser)
    limits.devicesPerUser = section.value("devicesPerUser", many, default: limits.devicesPerUser)
    limits.retiredFor = section.value(
      "retiredFor", .span(.hours(1)...(.days(3_650))), default: limits.retiredFor)
    limits.participantsPerZone = section.value(
      "participantsPerZone", many, default: limits.participantsPerZone)
    limits.zonesPerUser = section.value("zonesPerUser", many, default: limits.zonesPerUser)
    limits.recordsPerZone = section.value("recordsPerZone", many, default: limits.recordsPerZone)
    // One request may mark all of a user's notifications as read.
    limits.notificationsPerUser = section.value(
      "notificationsPerUser", perFact, default: limits.notificationsPerUser)
    // One request may set up to 200 read marks.
    limits.readMarksPerUser = section.value(
      "readMarksPerUser", .count(200...10_000_000), default: limits.readMarksPerUser)
    limits.pageEntries = section.value("pageEntries", .count(1...200), default: limits.pageEntries)
    limits.payloadBytes = section.value(
      "payloadBytes", .size(1_024...4_096), default: limits.payloadBytes)
    limits.valueBytesPerNotification = section.value(
      "valueBytesPerNotification", .size(1...4_096), default: limits.valueBytesPerNotification)
    limits.zonesPending = section.value(
      "zonesPending", .count(1...1_024), default: limits.zonesPending)
    limits.alertsPending = section.value(
      "alertsPending", .count(1...1_024), default: limits.alertsPending)
    limits.fanOuts = section.value("fanOuts", .count(1...10_000), default: limits.fanOuts)
    limits.forwardedMessages = section.value(
      "forwardedMessages", many, default: limits.forwardedMessages)
    limits.forwardedBytes = section.value(
      "forwardedBytes", .size(1_024...(64 << 30)), default: limits.forwardedBytes)
    limits.fanOutSlice = section.value(
      "fanOutSlice", .count(1...100_000), default: limits.fanOutSlice)
    limits.rememberedIDs = section.value(
      "rememberedIDs", .count(1...1_000_000_000), default: limits.rememberedIDs)
    limits.rememberedFor = section.value(
      "rememberedFor", .span(.seconds(1)...(.days(30))), default: limits.rememberedFor)
    // The maximum equals a sender's queue: a sender returns pushes beyond it unsent.
    limits.inFlightPerRoute = section.value(
      "inFlightPerRoute", .count(1...4_096), default: limits.inFlightPerRoute)
    limits.courierConnections = section.value(
      "courierConnections", .count(1...1_000_000), default: limits.courierConnections)
    limits.feedbackItems = section.value(
      "feedbackItems", .count(1...10_000_000), default: limits.feedbackItems)
    readNumberLimits(section)
  }

  private mutating func readNumberLimits(_ section: Section) {
    limits.gapAfter = section.value(
      "gapAfter", .span(.seconds(1)...(.days(1))), default: limits.gapAfter)
    limits.missingPerZone = section.value(
      "missingPerZone", .count(1...1_000_000), default: limits.missingPerZone)
    limits.missingFor = section.value(
      "missingFor", .span(.seconds(1)...(.days(30))), default: limits.missingFor)
    limits.settledPerZone = section.value(
      "settledPerZone", .count(1...1_000_000), default: limits.settledPerZone)
    limits.sourcesPerZone = section.value(
      "sourcesPerZone", .count(1...10_000), default: limits.sourcesPerZone)
  }
}
