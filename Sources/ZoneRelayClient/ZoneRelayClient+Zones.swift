extension ZoneRelayClient {
  func lose(_ zone: ZoneID, _ loss: ZoneLoss, _ report: inout FetchReport) async throws {
    try await sink.remove(zone, loss)
    state.lose(zone)
    report.missing.remove(zone)
    report.zones.insert(zone)
  }

  func fetchZones(
    _ zones: [ZoneID], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var rest = zones[...]
    var unfinished: [ZoneID] = []
    var readings: [ZoneID: FeedReading] = [:]
    if state.begin(zones) { try save() }
    try checkWanted()
    while !rest.isEmpty || !unfinished.isEmpty {
      let batch = unfinished + rest.prefix(Self.zonesPerRequest - unfinished.count)
      rest = rest.dropFirst(batch.count - unfinished.count)
      let (_, answer) = try await ask(
        .database, "\(database.rawValue)/changes/zone",
        ZonesQuestion(zones: batch.map { .init(zoneID: $0, syncToken: state.token(of: $0)) }),
        ZonesAnswer.self)
      guard let items = answer.items(for: batch) else {
        throw fail(.badAnswer, "changes/zone: the answer is not about the zones asked for")
      }
      unfinished = []
      var busy: RelayError?
      for (zone, item) in zip(batch, items) {
        // What a stopped round leaves of this answer comes again: its tokens are not kept.
        guard queue.isWanted else { break }
        switch try await take(item, of: zone, &readings[zone, default: FeedReading()], &report) {
        case .more: unfinished.append(zone)
        case .end: break
        case .failed(let error) where error.isPassing:
          // Never sooner than the relay asks for any of the zones.
          if (error.retryAfter ?? .zero) >= (busy?.retryAfter ?? .zero) { busy = error }
        case .failed(let error):
          state.refuse(zone)
          report.failures[zone] = error
        }
      }
      try saveProgress()
      // The pages of the other zones are applied.
      if let busy { throw fail(busy) }
      try checkWanted()
    }
  }

  /// How many zones one request asks for: at most 200 records each fit into an answer of 1,000.
  private static let zonesPerRequest = 50

  /// What became of one zone's part of an answer.
  private enum ZoneStep {
    /// The zone has further pages.
    case more
    case end
    /// The relay gives an error for this zone alone.
    case failed(RelayError)
  }

  /// Applies one zone's part of an answer.
  private func take(
    _ item: ZonesAnswer.Zone, of zone: ZoneID, _ reading: inout FeedReading,
    _ report: inout FetchReport
  ) async throws -> ZoneStep {
    let held = state.token(of: zone)
    switch item.serverErrorCode {
    case _ where item.isExpired && held != nil:
      try expire(&reading, "zone \(zone.name)")
      state.expire(zone)
      return .more
    case ErrorAnswer.zoneNotFound:
      report.missing.insert(zone)
      return .end
    default: if let error = item.error(of: zone) { return .failed(error) }
    }
    guard let token = item.syncToken else {
      throw fail(.badAnswer, "changes/zone: zone \(zone.name) has no syncToken")
    }
    let isLast = item.moreComing != true
    try check(token, after: held, isLast: isLast, &reading, "zone \(zone.name)")
    let page = ZonePage(item, of: zone, startsOver: held == nil)
    // An answer without news is no page for the sink.
    if token != held || page.gap || !page.isEmpty {
      try await sink.apply(page)
      report.add(page)
    }
    if token != held { backoff.succeeded() }
    state.read(zone, to: token)
    report.missing.remove(zone)
    if isLast { state.didRead(zone) }
    return isLast ? .end : .more
  }
}
