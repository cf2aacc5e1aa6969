import RelayCore
package import RelayEngine
import RelayWire
import Synchronization

/// The requests for explanations, on the control socket.
extension AdminAPI {
  /// The flight recorder, and the keys that compute the ids of changes and pushes.
  package struct Trace: Sendable {
    let feed: TraceFeed
    let keys: any IdentityKeys & PushKeys
    let queue = ExplanationQueue()

    package init(feed: TraceFeed, keys: any IdentityKeys & PushKeys) {
      (self.feed, self.keys) = (feed, keys)
    }
  }

  /// An operator's question. If the question names a change by source and id, `event` has both.
  struct ExplainQuery: Sendable {
    var question = TraceSearch.Question()
    var event: (source: String, id: String)?
  }

  /// - Returns: an `ExplainReport` as JSON, made within `ExplainReport.answeredWithin`.
  func explain(_ query: ExplainQuery) async throws -> String {
    guard let trace, let recorder = trace.feed.recorder else {
      throw WireError(
        .notFound, "trace.size is 0: the relay keeps nothing that explains; set it and restart")
    }
    let (clock, begun) = (clock, clock.boot())
    var question = query.question
    if let event = query.event { question.changes = names(of: event, question, trace) }
    var known: [DeviceKey] = []
    if let client = question.client {
      known = try await rows(of: client).map(\.key).filter { question.means($0.scope) }
    }
    let search = SharedSearch(TraceSearch(question, known: known))
    let end = begun + ExplanationTimes.reading
    try await read(recorder, through: recorder.place, until: end) { search.find($0) }
    let devices = search.now.allDevices
    let standings = try await relay.standings(of: devices, zones: search.now.zones)
    try await read(recorder, through: standings.place, until: end) { search.collect($0) }
    guard !search.now.isTooLarge else {
      throw WireError(
        .quotaExceeded,
        "more than \(TraceSearch.entriesMax) entries answer this; name a device, "
          + "or ask for fewer changes with last")
    }
    let (found, all) = (search.now, standings.devices)
    return try await trace.queue.run {
      clock.boot() >= begun + ExplanationTimes.beginning
    } _: {
      let end = clock.boot() + ExplanationTimes.explaining
      var work = ExplanationWork(found, all, keys: trace.keys)
      let report = work.report(at: clock.wall()) { clock.boot() < end }
      return try AdminAPI.json(report)
    }
  }

  /// The notification ids that the change would have, one in each scope that the question means. An
  /// id depends on the scope, and not on the producer.
  private func names(
    of event: (source: String, id: String), _ question: TraceSearch.Question, _ trace: Trace
  ) -> Set<Identifier> {
    Set(
      access.scopes.filter { question.means($0) }.map { scope in
        trace.keys.identity(scope: scope, producer: "", source: event.source, id: event.id)
          .notification
      })
  }

  /// Passes the entries that the recorder keeps, up to `place`, to `body`. Throws a 503 if the
  /// reading has not finished at `end`, which counts from the request's arrival, because the
  /// request may have waited for other readers.
  private func read(
    _ recorder: any FlightRecorder, through place: UInt64, until end: Instant,
    _ body: @escaping @Sendable ([TraceEntry]) -> Void
  ) async throws {
    let clock = clock
    do throws(TraceError) {
      try await recorder.read(through: place) { entries in
        body(entries)
        return clock.boot() < end
      }
    } catch {
      throw WireError(error)
    }
    guard clock.boot() < end else {
      throw WireError(
        .tryAgainLater,
        "the flight recorder was not read within \(ExplanationTimes.reading.milliseconds / 1_000) "
          + "seconds: other explanations are being made, or trace.size is too large for this "
          + "machine; try again when fewer are made",
        retryAfterSeconds: 5)
    }
  }
}

/// How long the parts of an answer may take. Together with the wait for earlier explanations, the
/// parts take less than `ExplainReport.answeredWithin`; the command waits longer than that limit.
enum ExplanationTimes {
  /// From the request's arrival until all reading of the recorder has ended.
  static let reading = Span.seconds(20)
  /// From the request's arrival until its explanations begin.
  static let beginning = Span.seconds(34)
  /// For the explanations of one answer. The first explanation is made in any case.
  static let explaining = Span.seconds(4)
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

/// A search that the recorder's thread carries out: the thread gives it the entries of the trace.
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
