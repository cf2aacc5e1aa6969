import ArgumentParser

/// The command `zonerelay`, which contains all other commands.
struct RootCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "zonerelay",
    abstract: "Wakes the right devices when records change, and lets each find out what it missed.",
    discussion: """
      A record server posts changes; zonerelay keeps them in a durable log, wakes devices by APNs, \
      FCM, Web Push or its own courier within Apple's budget, and serves every device exactly what \
      it missed.

      See it work on this machine, in a minute:
        zonerelay demo

      Run it:
        zonerelay check --config /etc/zonerelay/zonerelay.yaml
        zonerelay serve --config /etc/zonerelay/zonerelay.yaml
        zonerelay status

      If something does not work:
        zonerelay doctor
        zonerelay explain --device CLIENTID

      Exits: 0 done, 1 failed or unhealthy, 3 no daemon runs, 64 wrong usage, 78 bad configuration.
      """,
    version: "zonerelay \(Version.text)",
    subcommands: [
      ServeCommand.self, CheckCommand.self, DoctorCommand.self, StatusCommand.self,
      ExplainCommand.self, TailCommand.self, DeviceCommand.self, FeedbackCommand.self,
      BackupCommand.self, DrainCommand.self, ExpireTokensCommand.self, PhoneCommand.self,
      DemoCommand.self, StandinCommand.self, WebPushCommand.self, WebPushStandinCommand.self,
      FCMStandinCommand.self, VersionCommand.self,
    ])

  func perform(_ console: Console) async throws -> ExitStatus {
    throw Failure(.usage, "no command is given", hint: "see: zonerelay --help")
  }

  /// The program's name and the leading words of `arguments` that name a command.
  static func path(in arguments: [String]) -> [String] { walk(arguments).path }

  /// Rewrites `-c FILE status` as `status -c FILE`, because each command has this option itself.
  static func withConfigurationBehind(_ arguments: [String]) -> [String] {
    var count = 0
    while count < arguments.count {
      if ["-c", "--config"].contains(arguments[count]), count + 1 < arguments.count {
        count += 2
      } else if arguments[count].hasPrefix("--config=") {
        count += 1
      } else {
        break
      }
    }
    let rest = Array(arguments[count...])
    // Insert `-c` before the command's own options: if these contain another `-c`, the parser
    // uses that later one.
    let words = rest.firstIndex { $0.hasPrefix("-") } ?? rest.endIndex
    guard words > 0 else { return rest }
    return Array(rest[..<words] + arguments[..<count] + rest[words...])
  }

  /// The failure for an empty argument; nil if no argument is empty. A shell variable that is not
  /// set gives an empty argument, which the command would take for an argument that is not given.
  static func emptyArgument(in arguments: [String]) -> Failure? {
    let before = arguments.prefix { $0 != "--" }
    let joined = before.first { word in
      word.hasPrefix("--") && word.utf8.filter { $0 == UInt8(ascii: "=") }.count == 1
        && word.utf8.last == UInt8(ascii: "=")
    }
    let behind = zip(before, before.dropFirst()).first { $1.isEmpty }?.0
    guard
      let message = joined.map({ "\($0.dropLast()) has an empty value" })
        ?? behind.map({ "the argument after \($0) is empty" })
    else { return nil }
    let words = path(in: arguments).joined(separator: " ")
    return Failure(
      .usage, message, hint: "is a variable of the shell not set? see: \(words) --help")
  }

  /// The failure for a word in the place of a command that names no command; nil if there is no
  /// such word.
  static func unknownCommand(in arguments: [String]) -> Failure? {
    let (path, commands) = walk(arguments)
    guard !commands.isEmpty, let word = arguments.dropFirst(path.count - 1).first,
      !word.hasPrefix("-")
    else { return nil }
    let program = path.joined(separator: " ")
    let names = commands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    let near = word.nearest(of: names)
    let hint = near.map { "did you mean: \(program) \($0)" } ?? "see: \(program) --help"
    return Failure(.usage, "'\(word)' is no command of \(program)", hint: hint)
  }

  /// The words that name a command, and the subcommands of the last one.
  private static func walk(
    _ arguments: [String]
  ) -> (path: [String], below: [any ParsableCommand.Type]) {
    var path = ["zonerelay"]
    var known = configuration.subcommands
    for word in arguments {
      guard let next = known.first(where: { $0._commandName == word }) else { break }
      path.append(word)
      known = next.configuration.subcommands
    }
    return (path, known)
  }
}
