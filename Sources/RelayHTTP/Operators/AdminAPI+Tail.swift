import FoundationEssentials
import Hummingbird
import NIOCore
import RelayCore
import RelayEngine
import RelayWire

/// `GET /tail`: the entries as they are made, one line of JSON each, until the client closes the
/// connection or the daemon stops.
extension AdminAPI {
  /// How often an empty line is sent while nothing happens, so that a client that has gone is
  /// noticed.
  private static let pokeEvery = Duration.seconds(2)
  /// How long a client may read the rest of its lines once the daemon has begun to stop. Without
  /// this limit, a client that does not read would delay the stop by the whole time that the
  /// listener gives its connections.
  private static let endWithin = TimeAmount.seconds(1)

  func tail(_ filter: TailFilter, on channel: any Channel) throws(WireError) -> Response {
    guard let trace, trace.feed.recorder != nil else {
      throw WireError(
        .notFound, "trace.size is 0: the relay makes no entries; set it and restart")
    }
    guard trace.feed.tailCount < TraceFeed.tailsMax else {
      throw WireError(
        .tryAgainLater, "\(TraceFeed.tailsMax) operators follow the entries already",
        retryAfterSeconds: 1)
    }
    let now = clock
    return Response(
      status: .ok,
      headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        // This write sends the head at once, so that the client knows that its answer has begun.
        try await writer.write(ByteBuffer(string: "\n"))
        try await trace.feed.follow { tail in
          tail.onEnd {
            channel.eventLoop.scheduleTask(in: Self.endWithin) { channel.close(promise: nil) }
          }
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
              while !Task.isCancelled {
                try await Task.sleep(for: Self.pokeEvery)
                tail.poke()
              }
            }
            defer { group.cancelAll() }
            while let part = await tail.next() {
              let bytes = try Self.lines(of: part, filter, at: now.wall(), keys: trace.keys)
              try await writer.write(ByteBuffer(bytes: bytes))
            }
          }
        }
        try await writer.finish(nil)
      })
  }

  /// One part of the trace's tail as lines of JSON; an empty line if the filter shows no entry.
  private static func lines(
    of part: TraceTail.Part, _ filter: TailFilter, at now: Instant, keys: any PushKeys
  ) throws -> [UInt8] {
    let encoder = encoder
    var bytes: [UInt8] = []
    func add(_ line: TraceLine) throws {
      bytes += try encoder.encode(line)
      bytes.append(UInt8(ascii: "\n"))
    }
    for entry in part.entries where filter.shows(entry) { try add(TraceLine(entry, keys: keys)) }
    if part.missed > 0 {
      var line = TraceLine(at: now.milliseconds, event: "missed")
      line.count = part.missed
      try add(line)
    }
    return bytes.isEmpty ? [UInt8(ascii: "\n")] : bytes
  }
}
