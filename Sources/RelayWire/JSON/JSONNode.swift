/// One value or key of a JSON text. A node takes twelve bytes: it has offsets into the text and
/// copies nothing from it.
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

  /// The offset of the value's first byte in the text; for a string, the first byte after the
  /// opening quote.
  var start: UInt32
  /// For an array or object, the index of the first node after those inside it. For any other value
  /// or key, its number of bytes.
  var extent: UInt32
  var kind: Kind

  var isContainer: Bool { kind == .array || kind == .object }
}
