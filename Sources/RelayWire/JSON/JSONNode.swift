/// One value or key of a JSON text, in the order of the text. Twelve bytes; a node points into the
/// text and owns nothing.
struct JSONNode: Sendable {
  enum Kind: UInt8, Sendable {
    case null
    case `true`
    case `false`
    case number
    case string
    /// A string with backslashes in it.
    case escapedString
    case array
    case object
  }

  /// Scalars: offset of the first byte in the text (of a string: after its quote).
  var start: UInt32
  /// Scalars: number of bytes. Containers: index of the node after the last one inside.
  var extent: UInt32
  var kind: Kind

  var isContainer: Bool { kind == .array || kind == .object }
}
