import ArgumentParser
import Foundation

/// A command of `zonerelay`: the parser gives its arguments, and the command prints to the console.
protocol RelayCommand: AsyncParsableCommand {
  /// Runs the command. Answers go to `console.answer`.
  ///
  /// - Returns: the exit status.
  /// - Throws: `Failure` or `BadConfiguration`, which have an exit status of their own. After any
  ///   other error the process prints the error and exits with 1.
  func perform(_ console: Console) async throws -> ExitStatus
}

/// The program `zonerelay`, which runs the command that its arguments name.
package enum CommandLineTool {
  /// Runs the process's arguments with its stdout and stderr, and exits.
  package static func main() async -> Never {
    let console = Console.standard(ProcessInfo.processInfo.environment)
    exit(await run(Array(CommandLine.arguments.dropFirst()), console: console).rawValue)
  }

  /// Runs one command and returns its exit status. The call never throws, because it prints every
  /// error. A command whose answer could not be written has failed.
  ///
  /// - Parameter arguments: without the program's own name.
  package static func run(_ arguments: [String], console: Console) async -> ExitStatus {
    let status = await perform(arguments, console)
    guard let fault = console.fault() else { return status }
    console.report(
      Failure(
        .failed, "the output cannot be written: \(fault)", hint: "make room, or write elsewhere"))
    return status == .done ? .failed : status
  }

  private static func perform(_ arguments: [String], _ console: Console) async -> ExitStatus {
    let arguments = RootCommand.withConfigurationBehind(arguments)
    do {
      if let empty = RootCommand.emptyArgument(in: arguments) { throw empty }
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

  /// Prints the help, what was wrong in the command line, or the error that ended the command.
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
      // The parser's sentence, such as *Unknown option '-x'*, with a lower-case first letter, as
      // all other messages have it.
      let sentence = RootCommand.message(for: error)
      let message = sentence.prefix(1).lowercased() + sentence.dropFirst()
      console.report(Failure(.usage, message, hint: "see: \(words) --help"))
      return .usage
    default:
      console.report(Failure(error))
      return .failed
    }
  }
}
