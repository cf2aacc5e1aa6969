/// A key file that cannot be used: which one, what was found, and what to do about it. The daemon
/// does not start with it; nothing of a key's content is ever in the text.
package struct KeyFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var path: String
  package var found: String
  package var remedy: String

  package init(path: String, found: String, remedy: String) {
    self.path = path
    self.found = found
    self.remedy = remedy
  }

  package var description: String { "\(path): \(found); \(remedy)" }
}
