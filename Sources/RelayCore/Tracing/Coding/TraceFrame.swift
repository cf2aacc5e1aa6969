/// Batches behind each other, as the flight recorder keeps them. A frame can be read alone. A scope
/// is written once in a frame.
package struct TraceFrame: Sendable {
  private var writer: ByteWriter
  /// How many entries the batches have.
  package private(set) var count = 0
  /// Where the scopes stand, in the order in which they were written.
  private var scopes: [Range<Int>] = []

  package init(capacity: Int = 0) { writer = ByteWriter(capacity: capacity) }

  package var bytes: [UInt8] { writer.bytes }
  package var size: Int { writer.bytes.count }

  /// The most bytes that a batch takes in a frame besides its own: the number of its scope, and how
  /// many entries it has.
  package static let batchHeadBytesMax = 11

  /// Appends a batch: the number of its scope, the number of its entries, and the entries. Scopes
  /// are numbered from 1, and 0 means that the batch has no scope. The scope itself follows a
  /// number that is new in the frame.
  package mutating func append(_ batch: TraceBatch) {
    let scope = batch.bytes[..<batch.scopeBytes]
    if scope.isEmpty {
      writer.count(0)
    } else if let known = scopes.firstIndex(where: { writer.holds(scope, at: $0) }) {
      writer.count(known + 1)
    } else {
      writer.count(scopes.count + 1)
      scopes.append(writer.bytes.count..<writer.bytes.count + scope.count)
      writer.raw(scope)
    }
    writer.count(batch.count)
    writer.raw(batch.bytes[batch.scopeBytes...])
    count += batch.count
  }
}
