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
        // A stopped round leaves out the rest of this answer. The rest comes again, because its
        // tokens are not kept.
        guard queue.isWanted else { break }
        switch item.serverErrorCode {
        case ErrorAnswer.tokenExpired where state.token(of: zone) != nil:
          try expire(&readings[zone, default: FeedReading()], "zone \(zone.name)")
          state.expire(zone)
          unfinished.append(zone)
        case ErrorAnswer.zoneNotFound: report.missing.insert(zone)
        default:
          guard let error = item.error(of: zone) else {
            let isLast = try await apply(
              item, of: zone, &readings[zone, default: FeedReading()], &report)
            if !isLast { unfinished.append(zone) }
            continue
          }
          if !error.isPassing {
            state.refuse(zone)
            report.failures[zone] = error
          } else if (error.retryAfter ?? .zero) >= (busy?.retryAfter ?? .zero) {
            // The longest wait is kept, so that the client asks for no zone sooner than the relay
            // wants.
            busy = error
          }
        }
      }
      try saveProgress()
      // A zone of this answer may be busy. The error is thrown only now, so that the client first
      // applies the pages that this answer has of other zones.
      if let busy { throw fail(busy) }
      try checkWanted()
    }
  }

  /// How many zones one request asks for. More zones would bring little: an answer has at most
  /// 1,000 records of all zones together, and at most 200 of one zone.
  private static let zonesPerRequest = 50

  /// Applies one zone's part of an answer.
  ///
  /// - Returns: whether no further page follows at present.
  private func apply(
    _ item: ZonesAnswer.Zone, of zone: ZoneID, _ reading: inout FeedReading,
    _ report: inout FetchReport
  ) async throws -> Bool {
    guard let token = item.syncToken else {
      throw fail(.badAnswer, "changes/zone: zone \(zone.name) has no syncToken")
    }
    let held = state.token(of: zone)
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
    return isLast
  }
}
