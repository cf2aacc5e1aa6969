import ArgumentParser
import Foundation
import RelayCore
import ZoneRelayClient

struct PhoneCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "phone",
    abstract: "Plays a device on the command line.",
    subcommands: [PhoneRunCommand.self])

  func perform(_ console: Console) async throws -> ExitStatus {
    throw Failure(.usage, "run is missing", hint: "see: zonerelay phone run --help")
  }
}

struct PhoneRunCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Registers, subscribes, waits for wakes, fetches, and prints what happens.",
    discussion: """
      A phone is built on the library ZoneRelayClient, as an app is. It is reached by the relay's \
      own courier, so it needs no push provider. It subscribes to the zones that you name, or to \
      all zones of its user, and runs until it is interrupted.

      It keeps the names and change tags of all records that it may see. With --state they stay in \
      a directory, together with its tokens, and the next run goes on from there. Without it the \
      phone begins anew each time, and leaves the relay at its end.

      A user's token is a JWT, as your sign-in service makes it; the file is read again when the \
      relay refuses the token. For development, --user-secret makes tokens from the environment's \
      users.sharedSecret.

      With --count many phones run in one process, for load in your tests: without --json they \
      print sums only. A user has at most 100 devices, so phones made from --user-secret belong \
      to users of their own: NAME-1, NAME-2 and so on.

      Examples:
        zonerelay phone run --container iCloud.com.example.notes \\
          --user-token alice.jwt --zone ReadingList
        zonerelay phone run --container iCloud.com.example.notes \\
          --user-secret users.secret --user _abc --once --json
        zonerelay phone run --container iCloud.com.example.notes \\
          --user-secret users.secret --count 1000 --lossy --for 60s

      Exits 0 at the end or when interrupted, 1 if the relay refuses the phone, or if with --once \
      not everything was fetched within the time of --for. With --json each line is an event, a \
      documented contract: see docs/client.md.
      """)

  @OptionGroup var relay: PhoneRelayOptions
  @OptionGroup var user: PhoneUserOptions

  @Option(
    help: ArgumentHelp(
      "A zone to subscribe to; may be repeated. Without it: all.", valueName: "name")
  )
  var zone: [String] = []

  @Option(help: ArgumentHelp("Keep tokens and copy in this directory.", valueName: "dir"))
  var state: String?

  @Option(help: ArgumentHelp("So many phones in this process.", valueName: "count"))
  var count = 1

  @Flag(help: "Cut one request of ten, lose one answer of twenty, delay others up to 2 s.")
  var lossy = false

  @Flag(help: "Fetch everything once, and end.")
  var once = false

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("End after this time, such as 60s.", valueName: "time"))
  var time: String?

  @Flag(help: "Print JSON lines, a documented contract: see docs/client.md.")
  var json = false

  func validate() throws {
    guard (1...Self.countMax).contains(count) else {
      throw ValidationError("--count must be 1 to \(Self.countMax)")
    }
    if let time, Quantity.span(time).map({ $0 > .days(365) }) ?? true {
      throw ValidationError("--for must be a time such as 500ms, 60s or 5m, at most 365d")
    }
    if let file = user.userToken, count > 100 {
      throw ValidationError(
        "--count \(count) with --user-token \(file): a user has at most 100 devices; give "
          + "--user-secret instead")
    }
  }

  /// The most phones of one run. Each phone holds a poll open.
  private static let countMax = 10_000

  func perform(_ console: Console) async throws -> ExitStatus {
    let address = try relay.address()
    let talk = PhoneTalk(console: console, json: json, isFarm: count > 1)
    let transport = URLSessionTransport(connectionsPerHost: count * 2 + 4)
    var phones: [CommandLinePhone] = []
    for number in 1...count {
      phones.append(
        try CommandLinePhone(
          number: number, address: address,
          transport: lossy ? LossyTransport(inner: transport) : transport,
          tokens: try user.tokens(of: number, count: count, container: address.container),
          directory: state.map { count > 1 ? "\($0)/\(number)" : $0 }, zones: zone, talk: talk))
    }
    return try await PhoneRun(
      phones: phones, talk: talk, isOnce: once, time: time.flatMap(Quantity.span)
    ).run()
  }
}

/// Where the relay of a phone is.
struct PhoneRelayOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The relay's public URL.", valueName: "url"))
  var relay = "http://127.0.0.1:8460"

  @Option(help: ArgumentHelp("The container.", valueName: "id"))
  var container: String

  @Option(help: ArgumentHelp("development or production.", valueName: "name"))
  var environment = "development"

  @Option(
    help: ArgumentHelp("A file with the API token, if the relay asks for one.", valueName: "file"))
  var apiToken: String?

  func validate() throws {
    try ScopeOptions.check(environment: environment)
    guard let url = URL(string: relay), url.host() != nil,
      ["http", "https"].contains(url.scheme)
    else { throw ValidationError("--relay must be a URL such as https://relay.example.com") }
  }

  func address() throws -> RelayAddress {
    guard let url = URL(string: relay),
      let environment = RelayAddress.Environment(rawValue: environment)
    else { throw Failure(.usage, "--relay or --environment is wrong") }
    return RelayAddress(
      url: url, container: container, environment: environment,
      apiToken: try apiToken.map { try PhoneFiles.text($0, option: "--api-token") })
  }
}

/// The options that name the user of a phone, and give the user's token or the secret to sign one.
struct PhoneUserOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A file with the user's token, a JWT.", valueName: "file"))
  var userToken: String?

  @Option(
    help: ArgumentHelp(
      "A file with users.sharedSecret: tokens are made from it.", valueName: "file"))
  var userSecret: String?

  @Option(help: ArgumentHelp("The user's record name, with --user-secret.", valueName: "name"))
  var user = "_phone"

  func validate() throws {
    guard (userToken == nil) != (userSecret == nil) else {
      throw ValidationError("give one of --user-token and --user-secret")
    }
  }

  /// - Throws: `Failure` if the file cannot be read.
  func tokens(of number: Int, count: Int, container: String) throws -> PhoneTokens {
    if let userToken {
      _ = try PhoneFiles.token(userToken)
      return .file(userToken)
    }
    let secret = try PhoneFiles.text(userSecret ?? "", option: "--user-secret")
    return .secret(
      Array(secret.utf8), user: count > 1 ? "\(user)-\(number)" : user, container: container)
  }
}
