/// Bounds of one JSON text. What is beyond them is a `JSONProblem`, never memory.
package struct JSONLimits: Sendable {
  /// Arrays and objects inside one another.
  package var depth = 64
  /// Values and keys together; each costs twelve bytes while the text is read.
  package var nodes = 1_048_576

  package init() {}
}
