import Foundation
import Synchronization
import Testing

@testable import RelayCommands

/// The exit status of a command, and its output on stdout (`answer`) and on stderr (`talk`).
struct Said: Sendable {
  var status: RelayCommands.ExitStatus
  var answer: String
  var talk: String

  /// Runs the command line in this process.
  ///
  /// - Parameter fault: why the output cannot be written.
  static func by(
    _ command: String, _ arguments: [String], _ more: String..., fault: String? = nil
  ) async -> Said {
    await by([command] + arguments + more, fault: fault)
  }

  static func by(_ arguments: String...) async -> Said { await by(arguments) }

  private static func by(_ arguments: [String], fault: String? = nil) async -> Said {
    let (answer, talk) = (Output(), Output())
    var console = Console(answer: { answer.add($0) }, talk: { talk.add($0) })
    console.fault = { fault }
    let status = await CommandLineTool.run(arguments, console: console)
    return Said(status: status, answer: answer.text, talk: talk.text)
  }

  private final class Output: Sendable {
    private let words = Mutex("")
    func add(_ text: String) { words.withLock { $0 += text } }
    var text: String { words.withLock { $0 } }
  }
}

@Suite struct CommandLineTests {
  /// Only the socket is wrong in these command lines: no process listens on it.
  @Test(arguments: [
    ["--change", "/r", "1"], ["--change=/r", "--change=-5"],
    ["--zone", "_abc/\u{301}A", "--record", "R"],
  ])
  func `a change whose id begins with a dash, and a name with a mark, can be named`(
    question: [String]
  ) async {
    let said = await Said.by("explain", question, "--control", "/nowhere/control.sock")
    #expect(said.status == .notRunning, "\(said.talk)")
    let help = await Said.by("explain", "--help")
    #expect(help.answer.contains("--change=/records/api-1 --change=-5"))
  }

  /// If an empty argument counted as none, `--zone "$ZONE"` with an unset variable would show
  /// everything.
  @Test(arguments: [
    (["tail", "--zone", ""], "the argument after --zone is empty"),
    (["tail", "--user="], "--user has an empty value"),
    (["device", "list", "--user", "", "--json"], "the argument after --user is empty"),
    (["device", "show", ""], "the argument after show is empty"),
    (["explain", "--change", "/records", ""], "the argument after /records is empty"),
    (["status", "-c", ""], "the argument after -c is empty"),
    (["status", "--config="], "--config has an empty value"),
  ])
  func `an empty argument is refused by its place`(line: [String], message: String) async {
    let said = await Said.by(line[0], Array(line.dropFirst()))
    #expect(said.status == .usage && said.talk.contains("error: \(message)\n"), "\(said.talk)")
  }

  @Test(arguments: [
    ["explain", "--zone", "/Notes", "--record", "R"], ["tail", "--zone", "_abc/"],
    ["tail", "--environment", "Dev"], ["explain", "--device", "x", "--environment", "Production"],
    ["tail", "--device", "phone"], ["tail", "--route", "com.example.notes"],
    ["feedback", "--environment", "dev"], ["expire-tokens", "--environment", "dev"],
  ])
  func `a zone, an environment, a device or a route that cannot be is a wrong usage`(
    line: [String]
  ) async {
    let said = await Said.by(line[0], Array(line.dropFirst()), "--control", "/nowhere/c.sock")
    #expect(said.status == .usage, "\(said.talk)")
  }

  @Test(arguments: [
    ["--environment", "dev"], ["--goaway-every", "0"], ["--key-id", "X"], ["--team", "T"],
  ])
  func `a stand-in's setting that cannot be is a wrong usage`(option: [String]) async {
    let said = await Said.by("apns-standin", ["--directory", "/nowhere"] + option)
    #expect(said.status == .usage && said.talk.contains("\(option[0]) is \(option[1])"))
  }

  @Test(arguments: [["--help"], ["version"], ["check", "--config", "/nowhere"]])
  func `a command whose answer cannot be written has failed`(line: [String]) async {
    let said = await Said.by(line[0], Array(line.dropFirst()), fault: "No space left on device")
    #expect(said.status == (line[0] == "check" ? .badConfiguration : .failed))
    #expect(said.talk.contains("the output cannot be written: No space left on device"))
  }

  /// A text in Base64 may end with equals signs.
  @Test(arguments: [
    ["explain", "--zone", "_a/N", "--record=QUJDRA=="], ["explain", "--change=/r", "--change=-5="],
    ["tail", "--user=Zm9v="],
  ])
  func `a value may end with an equals sign`(line: [String]) async {
    let said = await Said.by(line[0], Array(line.dropFirst()), "--control", "/nowhere/c.sock")
    #expect(said.status == .notRunning, "\(said.talk)")
  }

  /// Asking for help or the version is no error, and the answer is on stdout.
  @Test func `help lists the commands, and version prints the version`() async {
    let root = await Said.by("--help")
    #expect(root.status == .done)
    for word in [
      "serve", "check", "doctor", "status", "device", "drain", "expire-tokens", "demo",
      "apns-standin",
    ] {
      #expect(root.answer.contains(word))
    }
    #expect(root.talk.isEmpty)
    let version = await Said.by("--version")
    #expect(version.status == .done)
    #expect(version.answer == "zonerelay \(Version.text)\n")
    let command = await Said.by("version")
    #expect(command.status == .done && command.answer == version.answer)
  }

  @Test(arguments: [
    ["serve"], ["check"], ["status"], ["device", "list"], ["device", "show"], ["device", "forget"],
    ["drain"], ["expire-tokens"], ["demo"], ["apns-standin"], ["backup"], ["version"], ["feedback"],
    ["doctor"],
  ]) func `the help of every command has an example`(_ path: [String]) async {
    let (answer, status) = await Self.help(path)
    #expect(status == .done)
    #expect(answer.contains("Example"))
    #expect(answer.contains("zonerelay \(path.joined(separator: " "))"))
  }

  private static func help(_ path: [String]) async -> (String, RelayCommands.ExitStatus) {
    let said =
      path.count == 2 ? await Said.by(path[0], path[1], "--help") : await Said.by(path[0], "--help")
    return (said.answer, said.status)
  }

  /// Help is written in paragraphs, which are wrapped once: at the terminal's width. Lines that
  /// begin with a blank, such as examples, are never wrapped, and fit a terminal of 80 columns.
  @Test(arguments: [
    [], ["serve"], ["check"], ["status"], ["device"], ["device", "list"], ["device", "show"],
    ["device", "forget"], ["drain"], ["expire-tokens"], ["demo"], ["apns-standin"],
    ["fcm-standin"], ["webpush-standin"], ["webpush"], ["webpush", "keys"], ["backup"],
    ["version"], ["feedback"], ["doctor"],
  ]) func `help wraps its paragraphs once, at the terminal's width`(_ path: [String]) async {
    for columns in [60, 100] {
      let (overview, usage) = await Self.helpLines(path, columns)
      for line in usage + overview.filter({ !$0.hasPrefix("  ") }) {
        #expect(line.count <= columns, "\(line)")
      }
    }
    let (lines, whole) = await Self.helpLines(path, 4_000)
    for (line, next) in zip(lines, lines.dropFirst()) where !line.isEmpty && !next.isEmpty {
      let isListed = next.hasPrefix(" ") || line.hasPrefix(" ")
      #expect(isListed || line.hasSuffix(":"), "a paragraph is cut after: \(line)")
    }
    let (narrow, usage) = await Self.helpLines(path, 80)
    for line in narrow + usage { #expect(line.count <= 80, "\(line)") }
    let listed = lines.filter { $0.hasPrefix("  ") }
    #expect(narrow.filter { $0.hasPrefix("  ") } == listed)
    #expect(whole.count == 1)
    let words = usage.map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(words.joined(separator: " ") == whole[0], "wrapped, and nothing else")
  }

  /// The lines of a command's help before its usage, and the lines of the usage.
  private static func helpLines(
    _ path: [String], _ columns: Int
  ) async -> (overview: [String], usage: [String]) {
    let words = Mutex("")
    let console = Console(
      answer: { text in words.withLock { $0 += text } }, talk: { _ in }, columns: columns)
    #expect(await CommandLineTool.run(path + ["--help"], console: console) == .done)
    let parts = words.withLock { $0 }.components(separatedBy: "\nUSAGE:")
    let usage = "USAGE:" + (parts.last ?? "").components(separatedBy: "\n\n")[0]
    return (parts[0].components(separatedBy: "\n"), usage.components(separatedBy: "\n"))
  }

  /// After a mistyped command, the hint names the most similar command.
  @Test(arguments: [
    (["stauts"], "'stauts' is no command of zonerelay", "did you mean: zonerelay status"),
    (["bakup", "x"], "'bakup' is no command of zonerelay", "did you mean: zonerelay backup"),
    (["expire"], "'expire' is no command of zonerelay", "did you mean: zonerelay expire-tokens"),
    (["device", "lst"], "'lst' is no command of zonerelay device", "mean: zonerelay device list"),
    (["xyzzy"], "'xyzzy' is no command of zonerelay", "see: zonerelay --help"),
  ]) func `a mistyped command is explained with a hint`(
    _ arguments: [String], _ error: String, _ hint: String
  ) async {
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { text in words.withLock { $0 += text } })
    #expect(await CommandLineTool.run(arguments, console: console) == .usage)
    let talk = words.withLock { $0 }
    #expect(talk.hasPrefix("zonerelay: error: \(error)\n"), "\(talk)")
    #expect(talk.contains(hint), "\(talk)")
  }

  /// Wrong usage exits with status 64. The message says what is wrong and names the help to read.
  @Test(arguments: [
    (["serve", "--nonsense"], "zonerelay serve --help"), (["dance"], "zonerelay --help"),
    ([], "zonerelay --help"), (["device"], "zonerelay device --help"),
    (["device", "show"], "zonerelay device show --help"),
    (["expire-tokens", "--environment", "staging"], "zonerelay expire-tokens --help"),
    (["expire-tokens", "--container", ""], "zonerelay expire-tokens --help"),
    (["expire-tokens", "--user", ""], "zonerelay expire-tokens --help"),
    (["serve", "--config", ""], "zonerelay serve --help"),
    (["apns-standin"], "zonerelay apns-standin --help"),
    (["apns-standin", "--listen", "x", "--directory", "d"], "zonerelay apns-standin --help"),
  ]) func `wrong usage is explained with a hint`(_ arguments: [String], _ hint: String) async {
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { text in words.withLock { $0 += text } })
    let status = await CommandLineTool.run(arguments, console: console)
    let talk = words.withLock { $0 }
    #expect(status == .usage)
    #expect(talk.hasPrefix("zonerelay: error: "))
    #expect(talk.contains("\nzonerelay: hint: "))
    #expect(talk.contains(hint))
  }

  /// Stand-ins are for tests and demonstrations, so they listen on this machine only.
  @Test(arguments: ["apns-standin", "fcm-standin", "webpush-standin"], ["0.0.0.0:0", "[::]:0"])
  func `a stand-in listens on loopback addresses only`(_ command: String, _ address: String)
    async throws
  {
    let world = try SettingsWorld()
    defer { world.remove() }
    // A file stands in the directory's place, so a stand-in that wrongly accepts the address still
    // ends.
    let said = await Said.by(command, "--listen", address, "--directory", world.path("words"))
    #expect(said.status == .usage)
    #expect(said.talk.contains("--listen is no loopback address: \(address)"), "\(said.talk)")
  }

  /// `check` prints the settings in force, with secrets masked.
  @Test func `check prints the settings in force and masks secrets`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write(
      SettingsWorld.yaml(extra: "budget: { alert: { max: 9 } }"), to: "zonerelay.yaml")
    let said = await Said.by("check", "--config", world.path("zonerelay.yaml"))
    #expect(said.status == .done)
    let lines = said.answer.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("budget.alert.max = 9 ") && $0.hasSuffix("# line 1") })
    #expect(lines.contains { $0.hasPrefix("wake.deadline = 1d ") && $0.hasSuffix("# default") })
    #expect(said.answer.contains("masked"))
    #expect(!(said.answer + said.talk).contains("a-bearer-key"))
  }

  /// An expired certificate stops only its own route and not the daemon.
  @Test func `check warns of an expired certificate`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let pair = "{ path: expired.pem, key: notes-apns-key }"
    let yaml = SettingsWorld.yaml(
      environment: "        apns: [{ topic: com.example.notes, certificate: \(pair) }]")
    try world.write(yaml, to: "zonerelay.yaml")
    let said = await Said.by("check", "--config", world.path("zonerelay.yaml"))
    #expect(said.status == .done)
    let warning = said.talk.split(separator: "\n").filter {
      $0.hasPrefix("zonerelay: warning: route apns com.example.notes")
    }
    #expect(warning.count == 1 && warning[0].contains("expired on 2020-01-02; renew it"))
    #expect(warning.first?.contains(" development: push_certificate_expired: ") == true)
  }

  /// A secret that every user of the machine may read is named with its mode and the remedy.
  @Test func `check warns of a secret that other users may read`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write(
      SettingsWorld.yaml(extra: "store: { directory: \(world.path("store")) }"),
      to: "zonerelay.yaml")
    try FileManager.default.createDirectory(
      atPath: world.path("store/keys"), withIntermediateDirectories: true)
    try world.write(String(repeating: "0f", count: 32), to: "store/keys/1.key")
    func warnings() async -> [Substring] {
      await Said.by("check", "--config", world.path("zonerelay.yaml")).talk.split(separator: "\n")
        .filter { $0.contains("holds a secret") }
    }
    func set(_ mode: Int, _ name: String) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: world.path(name))
    }
    try set(0o644, "notes-users")
    try set(0o640, "notes-producer")
    try set(0o604, "store/keys/1.key")
    let users = world.path("notes-users")
    let found = await warnings()
    #expect(found.count == 2)
    #expect(
      found.contains {
        $0 == "zonerelay: warning: \(users) holds a secret, and every user may read it "
          + "(mode 0644); close it: chmod o-rwx \(users)"
      })
    #expect(found.contains { $0.contains("1.key") && $0.contains("mode 0604") })
    try set(0o750, "store/keys")
    try set(0o600, "notes-users")
    #expect(await warnings().isEmpty, "a closed directory closes what is in it")
  }

  /// The daemon creates its own directories, but not their parents.
  @Test func `check finds a missing parent directory before the start`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write(
      SettingsWorld.yaml(
        extra: "store: { directory: gone/store }\ncontrol: { socket: away/run/control.sock }"),
      to: "zonerelay.yaml")
    let said = await Said.by("check", "--config", world.path("zonerelay.yaml"))
    #expect(said.status == .badConfiguration)
    let gone = world.path("gone")
    #expect(
      said.talk.contains(
        "error: store.directory: \(gone)/store cannot be made: \(gone) does not exist\n"))
    #expect(said.talk.contains("hint: make it (mkdir -p \(gone)), or correct the path\n"))
    #expect(said.talk.contains("error: control.socket: \(world.path("away/run")) cannot be made"))
    #expect(said.talk.contains("2 problems in"))
  }

  /// `check` and `serve` refuse a bad file and list every problem by its key.
  @Test(arguments: ["check", "serve"])
  func `check and serve exit with status 78 on a bad configuration`(_ command: String) async throws
  {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write("sever: {}\nlog: { level: loud }", to: "zonerelay.yaml")
    let said = await Said.by(command, "-c", world.path("zonerelay.yaml"))
    #expect(said.status == .badConfiguration)
    #expect(said.answer.isEmpty)
    #expect(said.talk.contains("zonerelay: error: sever (line 1): is no known key\n"))
    #expect(said.talk.contains("zonerelay: hint: did you mean 'server'?\n"))
    #expect(said.talk.contains("zonerelay: error: log.level (line 2)"))
    #expect(said.talk.contains("zonerelay: error: containers: is missing\n"))
    #expect(said.talk.contains("3 problems in \(world.path("zonerelay.yaml"))\n"))
  }

  /// Every command that needs a daemon exits with status 3 if no daemon runs.
  @Test(arguments: [["status"], ["status", "--json"], ["device", "list"], ["drain"]])
  func `control commands exit with status 3 without a daemon`(_ command: [String]) async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { text in words.withLock { $0 += text } })
    let arguments = command + ["--control", world.path("control.sock")]
    #expect(await CommandLineTool.run(arguments, console: console) == .notRunning)
    #expect(words.withLock { $0 }.contains(world.path("control.sock")))
  }

  /// Control commands read only the socket from the file, so other problems of the file do not
  /// matter.
  @Test func `a control command reads the socket from the configuration`() async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write(
      "control: { socket: \(world.path("s.sock")) }\nserver: { listen: x }", to: "zonerelay.yaml")
    let said = await Said.by("status", "--config", world.path("zonerelay.yaml"))
    #expect(said.status == .notRunning)
    #expect(said.talk.contains(world.path("s.sock")))
    let gone = await Said.by("status", "--config", world.path("gone.yaml"))
    #expect(gone.status == .badConfiguration)
  }

  /// Many programs take their configuration file before the command, so people type it there.
  @Test(arguments: [
    ["-c", "F", "status"], ["--config", "F", "status"], ["--config=F", "status"],
    ["-c", "F", "device", "list"], ["-c", "gone", "--config=F", "device", "list", "--json"],
  ]) func `the option -c may stand before the command`(_ arguments: [String]) async throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    try world.write("control: { socket: \(world.path("s.sock")) }", to: "F")
    let file = world.path("F")
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { text in words.withLock { $0 += text } })
    let named = arguments.map { $0.replacingOccurrences(of: "F", with: file) }
    #expect(await CommandLineTool.run(named, console: console) == .notRunning)
    #expect(words.withLock { $0 }.contains(world.path("s.sock")))
  }

  /// The error about a wrong command is the same whether `-c FILE` stands before or after the
  /// command.
  @Test(arguments: [
    (["-c", "F"], "no command is given"), (["-c"], "-c"),
    (["-c", "F", "stauts"], "'stauts' is no command of zonerelay"),
    (["--config=F", "device", "lst"], "'lst' is no command of zonerelay device"),
    (["-c", "F", "version"], "unknown option '-c'"),
  ]) func `the option -c before a command hides no usage error`(
    _ arguments: [String], _ error: String
  ) async {
    let words = Mutex("")
    let console = Console(answer: { _ in }, talk: { text in words.withLock { $0 += text } })
    #expect(await CommandLineTool.run(arguments, console: console) == .usage)
    #expect(words.withLock { $0 }.contains(error), "\(words.withLock { $0 })")
  }
}
