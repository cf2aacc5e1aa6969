import ArgumentParser
import Foundation

/// Runs one subcommand: opens a workbench, measures, and prints the report.
enum BenchRun {
  static func run(
    _ options: BenchOptions, _ measure: (Workbench) async throws -> [Figure]
  ) async throws {
    let bench: Workbench
    do {
      bench = try Workbench(options)
    } catch {
      throw fail(error)
    }
    let interrupts = Interrupts(closing: bench)
    defer { interrupts.end() }
    do {
      let figures = try await measure(bench)
      bench.close()
      let report = Report(machine: Machine.present(), pairs: options.pairCount, figures: figures)
      print(options.json ? try report.json() : report.table())
    } catch {
      bench.close()
      throw fail(error)
    }
  }

  private static func fail(_ error: any Error) -> ExitCode {
    Talk.line("error: \(error)")
    return ExitCode(1)
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
