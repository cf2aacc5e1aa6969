/// Limits of one JSON text. Reading a text beyond these limits throws a `JSONProblem` and takes no
/// further memory.
package struct JSONLimits: Sendable {
  /// How deep arrays and objects may be nested.
  package var depth = 64
  /// The most values and keys together. Each value or key takes twelve bytes while the tree exists.
  package var nodes = 1_048_576

  package init() {}
}
