/// Batches behind each other, as the flight recorder keeps them. A frame can be read alone. A scope
/// that follows itself is written once.
package struct TraceFrame: Sendable {
  private var writer: ByteWriter
  /// How many entries the batches have.
  package private(set) var count = 0
  /// Where the newest scope stands.
  private var scope: Range<Int>?

  package init(capacity: Int = 0) { writer = ByteWriter(capacity: capacity) }

  package var bytes: [UInt8] { writer.bytes }
  package var size: Int { writer.bytes.count }

  /// The most bytes that a batch takes in a frame besides its own: how its scope is known, and how
  /// many entries it has.
  package static let batchHeadBytesMax = 11

  /// How the scope of a batch is known.
  enum ScopeKind: UInt8 {
    case none
    case asBefore
    case written
  }

  package mutating func append(_ batch: TraceBatch) {
    let scopeBytes = batch.bytes[..<batch.scopeBytes]
    if scopeBytes.isEmpty {
      writer.byte(ScopeKind.none.rawValue)
    } else if let scope, writer.holds(scopeBytes, at: scope) {
      writer.byte(ScopeKind.asBefore.rawValue)
    } else {
      writer.byte(ScopeKind.written.rawValue)
      scope = writer.bytes.count..<writer.bytes.count + scopeBytes.count
      writer.raw(scopeBytes)
    }
    writer.count(batch.count)
    writer.raw(batch.bytes[batch.scopeBytes...])
    count += batch.count
  }
}
