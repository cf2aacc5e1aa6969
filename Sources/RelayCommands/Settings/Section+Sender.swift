import RelayPush

extension Section {
  /// Calls `make`, which checks a route's settings as the route's sender does. So settings that the
  /// sender would refuse at start are reported now.
  ///
  /// - Parameters:
  ///   - keys: for a code of a problem, the key that the problem concerns.
  ///   - other: the key that any other problem concerns.
  /// - Returns: what `make` returns; nil if `make` throws a problem, which is then reported.
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
