import RelayPush

extension Section {
  /// What the sender of a route makes of its settings: finds now what it would refuse at start.
  ///
  /// - Parameters:
  ///   - keys: the key that a problem of a code concerns.
  ///   - other: the key that any other problem concerns.
  /// - Returns: nil if the sender would refuse them; the problem is reported.
  func proven<Made>(
    _ keys: [PushProblem.Code: String], else other: String,
    _ make: () throws(PushProblem) -> Made
  ) -> Made? {
    do throws(PushProblem) {
      return try make()
    } catch {
      // The code comes first in the text, because docs/troubleshooting.md explains it.
      report(keys[error.code] ?? other, error.text, remedy: error.remedy)
      return nil
    }
  }
}
