/// The error for a key file that cannot be used: its path, what was found, and the remedy. The
/// daemon does not start with such a file. The error's text never contains any part of a key.
package struct KeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var path: String
  package var found: String
  package var remedy: String

  package init(path: String, found: String, remedy: String) {
    (self.path, self.found, self.remedy) = (path, found, remedy)
  }

  package var description: String { "\(path): \(found); \(remedy)" }
}
