import ArgumentParser
import Foundation

/// The options that all subcommands have.
struct BenchOptions: ParsableArguments {
  @Option(help: "Pairs of ours and reference, run in turn (default 5; 2 with --quick).")
  var pairs: Int?

  @Flag(help: "A tenth of the work and two pairs: shows that it runs, not how fast it is.")
  var quick = false

  @Flag(help: "Print the figures as JSON.")
  var json = false

  @Option(help: "The zonerelay binary to measure (default: the one beside this program).")
  var daemon: String?

  @Option(help: "Where temporary files go; on a real disk, else no figure about fsync counts.")
  var scratch = "/var/tmp"

  /// The most pairs of one run: enough for any useful spread, and a limit on the time of the run.
  private static let pairsMax = 50

  func validate() throws {
    if let pairs, !(1...Self.pairsMax).contains(pairs) {
      throw ValidationError("--pairs must be between 1 and \(Self.pairsMax)")
    }
  }

  var pairCount: Int { pairs ?? (quick ? 2 : 5) }

  /// The whole amount of work, or a tenth with `--quick`.
  func amount(_ whole: Int) -> Int { quick ? whole / 10 : whole }

  var daemonPath: String {
    if let daemon { return daemon }
    // On Linux this link names the running program. `argv[0]` may lack the directory.
    return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("zonerelay").path
  }
}
