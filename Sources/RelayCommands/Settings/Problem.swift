/// One thing wrong with the configuration: where, what, and what to do about it.
///
/// The daemon never runs with a file that has problems. All problems are reported at once.
package struct Problem: Error, Hashable, Sendable {
  /// The path of the key, such as `containers[0].environments.development.apns[0].key.path`; the
  /// file's own name if the problem concerns the whole file.
  package var key: String
  package var cause: String
  package var remedy: String
  /// Line of the file, from 1; nil where the value is absent or not from the file.
  package var line: Int?

  /// `key (line 7): cause`, the first line of the report.
  package var text: String { "\(place): \(cause)" }

  /// `key (line 7)`.
  var place: String { key + (line.map { " (line \($0))" } ?? "") }
}

/// A value that its key does not allow. The reader of the key adds the key and the line.
struct ValueError: Error {
  var cause: String
  var remedy: String

  init(_ cause: String, remedy: String) {
    self.cause = cause
    self.remedy = remedy
  }
}
