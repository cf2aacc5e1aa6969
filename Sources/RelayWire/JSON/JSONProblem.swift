/// Why a JSON text cannot be used: what is wrong and where.
package struct JSONProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value's path, such as `data.zoneID.zoneName` or `[3].id`; empty for the text as a whole.
  package var path: String
  /// What is wrong with the value, to be read after the path: "must be a string, not a number".
  package var what: String

  package init(path: String, what: String) {
    self.path = path
    self.what = what
  }

  package var description: String { path.isEmpty ? what : "\(path) \(what)" }
}
