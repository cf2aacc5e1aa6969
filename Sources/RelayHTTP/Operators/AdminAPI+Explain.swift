import RelayCore
package import RelayEngine
import RelayWire
import Synchronization

/// The requests for explanations, on the control socket.
extension AdminAPI {
  /// The flight recorder, and the keys that name what operators ask for.
  package struct Trace: Sendable {
    let feed: TraceFeed
    let keys: any IdentityKeys & PushKeys
    let queue: ExplanationQueue

    package init(
      feed: TraceFeed, keys: any IdentityKeys & PushKeys, clock: any ClockReader
    ) {
      (self.feed, self.keys, queue) = (feed, keys, ExplanationQueue(clock: clock))
    }
  }

  /// A question, with the source and id of the change that it names.
  struct ExplainQuery: Sendable {
    var question = TraceSearch.Question()
    var event: (source: String, id: String)?
  }

  func explain(_ query: ExplainQuery) async throws -> ExplainReport {
    guard let trace, let recorder = trace.feed.recorder else {
      throw WireError(
        .notFound, "trace.size is 0: the relay keeps nothing that explains; set it and restart")
    }
    let asked = clock.boot()
    var question = query.question
    if let event = query.event { question.changes = names(of: event, question, trace) }
    let rows = try await registrations(of: question)
    let search = SharedSearch(TraceSearch(question, known: rows))
    try await read(recorder, through: recorder.place) { search.find($0) }
    let devices = search.now.allDevices
    let standings = try await standings(of: devices, search.now.zones)
    try await read(recorder, through: standings.place) { search.collect($0) }
    guard !search.now.isTooLarge else {
      throw WireError(
        .quotaExceeded,
        "more than \(TraceSearch.entriesMax) entries answer this; name a device, "
          + "or ask for fewer changes with last")
    }
    let (found, all) = (search.now, standings.devices)
    return try await trace.queue.run(asked: asked) { report(found, all, trace, end: $0) }
  }

  /// The names that the change would have in each scope. The name depends on the scope, and not on
  /// the producer.
  private func names(
    of event: (source: String, id: String), _ question: TraceSearch.Question, _ trace: Trace
  ) -> Set<Identifier> {
    Set(
      access.scopes.filter { question.means($0) }.map { scope in
        trace.keys.identity(scope: scope, producer: "", source: event.source, id: event.id)
          .notification
      })
  }

  private func registrations(of question: TraceSearch.Question) async throws -> [DeviceKey] {
    guard let client = question.client else { return [] }
    return try await rows(of: client).map(\.key).filter { question.means($0.scope) }
  }

  private func standings(of devices: [DeviceKey], _ zones: [ZoneID]) async throws -> Standings {
    do throws(Unavailable) {
      return try await relay.standings(of: devices, zones: zones)
    } catch {
      throw WireError(error)
    }
  }

  private func read(
    _ recorder: any FlightRecorder, through place: UInt64,
    _ body: @escaping @Sendable ([TraceEntry]) -> Void
  ) async throws {
    do throws(TraceError) {
      try await recorder.read(through: place) { entries in
        body(entries)
        return true
      }
    } catch {
      throw WireError(error)
    }
  }

  /// - Parameter end: when the answer must be ready.
  private func report(
    _ search: TraceSearch, _ standings: [Standing], _ trace: Trace, end: Instant
  ) -> ExplainReport {
    var changes: [ExplainReport.ExplainedChange] = []
    // The newest first: what the time does not suffice for is counted as further devices.
    for name in search.found.reversed() {
      guard let entry = search.change(named: name) else { continue }
      let known = Set(search.devices(of: name))
      let concerned = standings.filter { known.contains($0.device) }
      var (explained, count): ([Explanation], Int) = ([], 0)
      for standing in concerned.prefix(search.devicesPerChange) {
        if !(changes.isEmpty && count == 0), clock.boot() >= end { break }
        explained += Explanation.of(name, in: search.entries, standing)
        count += 1
      }
      changes.append(
        ExplainReport.ExplainedChange(
          change: TraceLine(entry, keys: trace.keys),
          devices: explained.map { ExplainReport.ExplainedDevice($0, trace.keys) },
          moreDevices: search.devicesLeft(of: name) + concerned.count - count))
    }
    return ExplainReport(
      now: clock.wall().milliseconds, knownSince: search.since?.milliseconds, gaps: search.gaps,
      devices: standings.filter { search.known.contains($0.device) }
        .map { ExplainReport.DeviceStanding($0) },
      changes: changes.reversed(), moreChanges: search.hasMore)
  }
}

extension WireError {
  init(_ error: TraceError) {
    switch error.code {
    case .busy: self.init(.tryAgainLater, error.message, retryAfterSeconds: 1)
    case .off: self.init(.notFound, error.message)
    default: self.init(.tryAgainLater, error.message, retryAfterSeconds: 5)
    }
  }
}

/// A search that the recorder's thread fills.
private final class SharedSearch: Sendable {
  private let search: Mutex<TraceSearch>
  init(_ search: TraceSearch) { self.search = Mutex(search) }

  var now: TraceSearch { search.withLock { $0 } }

  func find(_ entries: [TraceEntry]) {
    search.withLock { search in for entry in entries { search.find(entry) } }
  }

  func collect(_ entries: [TraceEntry]) {
    search.withLock { search in for entry in entries { search.collect(entry) } }
  }
}
