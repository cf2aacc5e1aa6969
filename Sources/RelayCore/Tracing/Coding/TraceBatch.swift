/// Entries of one scope as bytes, in the order in which they were made.
///
/// The core makes bytes and not a list of entries. An entry would keep its names alive until the
/// recorder has encoded it, and the recorder would cost nearly twice as much (docs/performance.md).
package struct TraceBatch: Hashable, Sendable {
  package let count: Int
  /// When the first entry was made.
  package let first: Instant
  /// The scope, and behind it the entries.
  let bytes: [UInt8]
  /// How many of the bytes name the scope; 0 if no entry has one.
  let scopeBytes: Int

  /// How many bytes the batch takes.
  package var size: Int { bytes.count }

  /// The entries. This process has made the bytes, so it can read them. If a fault of the coding
  /// makes the bytes unreadable, the operator is told how many entries are missing, and the relay
  /// goes on.
  package var entries: [TraceEntry] {
    var frame = TraceFrame()
    frame.append(self)
    var reader = EntryReader(frame.bytes)
    return (try? reader.entries(count)) ?? [TraceEntry(at: first, .lost(count))]
  }

  /// These entries as batches. A batch ends where the scope changes, or when it is full.
  package static func of(_ entries: [TraceEntry]) -> [TraceBatch] {
    var batches: [TraceBatch] = []
    var writer = EntryWriter()
    for entry in entries {
      if writer.count > 0, writer.isFull || !writer.takes(entry.event.scope) {
        batches.append(writer.take())
      }
      if writer.count == 0 { writer.begin(entry.event.scope, at: entry.at) }
      writer.write(entry)
    }
    if writer.count > 0 { batches.append(writer.take()) }
    return batches
  }
}

extension TraceEvent {
  /// The scope of what happened; `nil` if it happened to the recorder itself.
  var scope: Scope? {
    switch self {
    case .began, .lost: nil
    case .change(let change): change.scope
    case .moved(let move): move.scope
    case .matched(let match): match.user.scope
    case .device(let key, _): key.scope
    case .user(let key, _): key.scope
    case .route(let route, _): route.scope
    }
  }
}
