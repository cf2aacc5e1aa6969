import ArgumentParser
import Foundation

/// A subcommand that measures.
protocol BenchCommand: AsyncParsableCommand {
  var options: BenchOptions { get }
  func measure(_ bench: Workbench) async throws -> [Figure]
}

extension BenchCommand {
  /// Opens a workbench, measures, and prints the report.
  func run() async throws {
    do {
      let bench = try Workbench(options)
      let interrupts = Interrupts(closing: bench)
      defer {
        bench.close()
        interrupts.end()
      }
      let figures = try await measure(bench)
      let report = Report(machine: Machine.present(), pairs: options.pairCount, figures: figures)
      print(options.json ? try report.json() : report.table())
    } catch {
      Talk.line("error: \(error)")
      throw ExitCode(1)
    }
  }
}

/// A measurement that takes no options of its own, and is a subcommand.
protocol Measurement {
  static var configuration: CommandConfiguration { get }
  init(bench: Workbench)
  func run() async throws -> [Figure]
}

struct MeasureCommand<Measured: Measurement>: BenchCommand {
  static var configuration: CommandConfiguration { Measured.configuration }
  @OptionGroup var options: BenchOptions

  func measure(_ bench: Workbench) async throws -> [Figure] {
    try await Measured(bench: bench).run()
  }
}

/// Prints progress to stderr; stdout carries only the report.
enum Talk {
  static func line(_ text: String) {
    FileHandle.standardError.write(Data("zonerelay-bench: \(text)\n".utf8))
  }
}

/// Why a measurement is invalid: what happened, and the remedy where there is one.
struct BenchError: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// Measures zonerelay (`ours`) and the reference in turn. Callers change the order from round to
/// round, so that neither always runs second.
func inTurn<Ours, Reference>(
  isOursFirst: Bool, _ ours: () async throws -> Ours, reference: () async throws -> Reference
) async throws -> (ours: Ours, reference: Reference) {
  if isOursFirst { return (try await ours(), try await reference()) }
  let first = try await reference()
  return (try await ours(), first)
}
