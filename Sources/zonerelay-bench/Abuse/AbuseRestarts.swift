import Foundation

/// How soon a killed daemon was ready again, in seconds: `quiet` without hostile callers, `abused`
/// with them.
struct AbuseRestarts {
  var quiet: [Double] = []
  var abused = 0.0

  /// The median time without hostile callers.
  var calm: Double { Spread(quiet).median }

  var summary: String {
    String(format: "ready after a kill: %.2f s under abuse, %.2f s quiet", abused, calm)
  }

  var figures: [Figure] {
    [
      Figure("abuse", "ready after a kill, quiet", unit: "s", ours: quiet),
      Figure("abuse", "ready after a kill under abuse", unit: "s", ours: [abused]),
    ]
  }
}
