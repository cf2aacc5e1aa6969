import RelayCore
import RelayEngine
import RelayHTTP
import RelayKeys
import RelayPush
import RelayStandin
import RelaySystem

/// Why a command could not do its work, in words for operators: what happened and what to do about
/// it.
package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
  package var status: ExitStatus
  package var message: String
  package var hint: String?

  package init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }

  package var description: String { hint.map { "\(message); \($0)" } ?? message }

  /// Converts any error that ends a command.
  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as StoreError:
      self.init(.failed, error.description, hint: "docs/troubleshooting.md explains \(error.code)")
    case let error as StandinError:
      self.init(.failed, "\(error.code.name): \(error.message)", hint: error.remedy)
    case let error as ListenError:
      self.init(.failed, error.description, hint: error.remedy)
    case let error as PushProblem: self.init(.failed, error.text, hint: error.remedy)
    case let error as SystemError:
      self.init(.failed, "\(error.code.name): \(error.message)", hint: error.remedy)
    case let error as ValueError: self.init(.failed, error.cause, hint: error.remedy)
    case let error as KeyFailure:
      self.init(.failed, "\(error.path): \(error.found)", hint: error.remedy)
    default: self.init(.failed, "\(error)")
    }
  }
}

/// All problems of a bad configuration.
struct BadConfiguration: Error, CustomStringConvertible {
  var problems: [Problem]
  var file: String

  var description: String {
    problems.map { "\($0.text); \($0.remedy)" }.joined(separator: " · ")
  }
}
