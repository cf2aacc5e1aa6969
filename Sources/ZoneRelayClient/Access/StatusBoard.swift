/// The client's status, and the streams that show it.
struct StatusBoard {
  private(set) var status = SyncStatus.idle
  private(set) var streams: [UInt64: AsyncStream<SyncStatus>.Continuation] = [:]
  private(set) var added: UInt64 = 0

  /// Adds a stream and shows it the present status. A stream that its reader has dropped is
  /// forgotten at the next status.
  ///
  /// - Returns: the stream's number, for `remove`.
  mutating func add(_ stream: AsyncStream<SyncStatus>.Continuation) -> UInt64 {
    added += 1
    streams[added] = stream
    stream.yield(status)
    return added
  }

  mutating func remove(_ stream: UInt64) { streams[stream] = nil }

  mutating func show(_ new: SyncStatus) {
    guard new != status else { return }
    status = new
    for (number, stream) in streams {
      if case .terminated = stream.yield(new) { streams[number] = nil }
    }
  }
}
