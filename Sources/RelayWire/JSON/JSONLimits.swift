/// Bounds of one JSON text. A text beyond them throws a `JSONProblem` and takes no further memory.
package struct JSONLimits: Sendable {
  /// How deep arrays and objects may be nested.
  package var depth = 64
  /// Values and keys together; each costs twelve bytes while the text is read.
  package var nodes = 1_048_576

  package init() {}
}
