import ArgumentParser
import Foundation

/// A command of `zonerelay`: arguments come from the parser, words go to the console.
protocol RelayCommand: AsyncParsableCommand {
  /// Does the work. Answers go to `console.answer`.
  ///
  /// - Returns: how to exit.
  /// - Throws: `Failure`, `BadConfiguration`, or another error, which exits 1 with its reason.
  func perform(_ console: Console) async throws -> ExitStatus
}

/// The command line as a whole.
package enum CommandLineTool {
  /// The process: its arguments, its stdout and stderr, its exit.
  package static func main() async -> Never {
    let console = Console.standard(ProcessInfo.processInfo.environment)
    exit(await run(Array(CommandLine.arguments.dropFirst()), console: console).rawValue)
  }

  /// Runs one command and says how to exit. Never throws: every error has been told by then.
  ///
  /// - Parameter arguments: without the program's own name.
  package static func run(_ arguments: [String], console: Console) async -> ExitStatus {
    let arguments = RootCommand.withConfigurationBehind(arguments)
    do {
      var command = try RootCommand.parseAsRoot(arguments)
      if let command = command as? any RelayCommand { return try await command.perform(console) }
      try command.run()
      return .done
    } catch let failure as Failure {
      console.report(failure)
      return failure.status
    } catch let bad as BadConfiguration {
      console.report(bad)
      return .badConfiguration
    } catch {
      return end(error, arguments, console)
    }
  }

  /// Help that was asked for, wrong usage, or an error of the work itself.
  private static func end(
    _ error: any Error, _ arguments: [String], _ console: Console
  ) -> ExitStatus {
    switch RootCommand.exitCode(for: error) {
    case .success:
      let help = RootCommand.fullMessage(for: error, columns: console.columns)
      console.answer(line: UsageLine.wrapped(in: help, to: console.columns))
      return .done
    case .validationFailure:
      if let unknown = RootCommand.unknownCommand(in: arguments) {
        console.report(unknown)
        return .usage
      }
      let words = RootCommand.path(in: arguments).joined(separator: " ")
      let message = RootCommand.message(for: error)
      console.report(Failure(.usage, message, hint: "see: \(words) --help"))
      return .usage
    default:
      console.report(Failure(error))
      return .failed
    }
  }
}
