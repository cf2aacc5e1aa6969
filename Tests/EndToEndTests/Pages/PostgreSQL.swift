import Foundation

/// A PostgreSQL server of a test's own, which listens on a socket in the test's directory.
struct PostgreSQL {
  private let program: Program
  private let directory: URL

  private static let versions = "/usr/lib/postgresql"

  /// The newest installed version's programs; nil if none is installed.
  private static var programs: URL? {
    // Without the directory no version is installed.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    return names.compactMap(Int.init).max().map {
      URL(fileURLWithPath: "\(versions)/\($0)/bin")
    }
  }

  static var isInstalled: Bool { programs != nil }

  /// PostgreSQL refuses to run as root, so root runs it as `nobody`.
  static func start(in workplace: Workplace) async throws -> PostgreSQL {
    guard let programs else { throw TestFailure("\(versions) is not there") }
    let directory = workplace.file("postgres")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    var through: [String] = []
    if geteuid() == 0 {
      through = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
      guard let nobody = getpwnam("nobody") else { throw TestFailure("there is no user nobody") }
      try FileManager.default.setAttributes(
        [.ownerAccountID: Int(nobody.pointee.pw_uid)], ofItemAtPath: directory.path)
    }
    func command(_ name: String, _ arguments: [String]) throws -> Program {
      try Program(
        through + [programs.appendingPathComponent(name).path] + arguments, in: workplace,
        name: name, program: URL(fileURLWithPath: "/usr/bin/env"))
    }
    let data = directory.appendingPathComponent("data").path
    let made = try await command(
      "initdb", ["-D", data, "-U", "notes", "-A", "trust", "-E", "UTF8", "--no-sync"]
    ).wait()
    guard made.status == 0 else { throw TestFailure("initdb: \(made.output) \(made.errors)") }
    let server = try command(
      "postgres", ["-D", data, "-k", directory.path, "-c", "listen_addresses="])
    let socket = directory.appendingPathComponent(".s.PGSQL.5432").path
    guard
      await Pause.until(seconds: 60, { FileManager.default.fileExists(atPath: socket) }),
      await Pause.until(seconds: 60, { server.errors.contains("ready to accept connections") })
    else { throw TestFailure("postgres: \(server.errors)") }
    return PostgreSQL(program: server, directory: directory)
  }

  /// The lines that make the database `notes`, and that let `psql notes` reach this server.
  var variables: String {
    """
    export PGHOST=\(directory.path) PGUSER=notes
    createdb notes
    """
  }

  func stop() async {
    program.signal(SIGINT)
    await program.wait()
  }
}
