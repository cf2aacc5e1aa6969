import Foundation

/// One run of `zonerelay doctor --json`, and its findings.
struct DoctorRun {
  struct Line: CustomStringConvertible {
    var group: String
    var subject: String
    var result: String
    var code: String
    var message: String
    var cause: String
    var remedy: String
    var seconds: Double?
    var description: String { "\(result) \(code) \(subject): \(message): \(cause); \(remedy)" }
  }

  let ended: Program.Ended
  let lines: [Line]

  /// Codes of warnings and failures, in the order of the findings.
  var codes: [String] { lines.map(\.code).filter { !$0.isEmpty } }
  var troubles: [Line] { lines.filter { ["warning", "failed"].contains($0.result) } }

  /// - Parameter through: a program and its arguments that run the doctor, such as `env`.
  static func run(
    in workplace: Workplace, _ options: [String] = [], through: [String] = []
  ) async throws -> DoctorRun {
    let command = ["doctor", "--json", "--config", workplace.configPath] + options
    let program =
      through.isEmpty
      ? try Program(command, in: workplace, name: "doctor")
      : try Program(
        Array(through.dropFirst()) + [Program.binary.path] + command, in: workplace,
        name: "doctor", program: URL(fileURLWithPath: through[0]))
    return DoctorRun(await program.wait())
  }

  init(_ ended: Program.Ended) {
    self.ended = ended
    lines = JSON(data: Data(ended.output.utf8))["findings"].array.map {
      Line(
        group: $0["group"].string ?? "", subject: $0["subject"].string ?? "",
        result: $0["result"].string ?? "", code: $0["code"].string ?? "",
        message: $0["message"].string ?? "", cause: $0["cause"].string ?? "",
        remedy: $0["remedy"].string ?? "", seconds: $0["seconds"].double)
    }
  }

  /// The line with this code; nil if the doctor reported no such finding.
  func line(_ code: String) -> Line? { lines.first { $0.code == code } }
}

extension Workplace {
  /// A workplace in which `doctor` reports no fault once the daemon runs: no other user may enter
  /// the workplace, and every shell allows as many open files as the daemon needs. The
  /// configuration is written, and the stand-in runs.
  ///
  /// - Parameters:
  ///   - options: options of the stand-in.
  ///   - environment: lines of the environment's configuration. Each line except the first begins
  ///     with its indentation.
  static func forDoctor(
    _ options: [String] = [], window: String = "100ms", environment: String = ""
  ) async throws -> (workplace: Workplace, standin: Standin) {
    let workplace = try Workplace()
    do {
      let standin = try await Standin.start(in: workplace, options)
      try workplace.configureForDoctor(window: window, environment: environment)
      return (workplace, standin)
    } catch {
      workplace.remove()
      throw error
    }
  }

  /// Closes the workplace's directory to all other users, and writes a configuration that needs so
  /// few open files that every limit of a login allows them.
  func configureForDoctor(window: String = "100ms", environment: String = "") throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: directory.path)
    try configure(
      window: window, extra: "limits: { connections: 300, courierConnections: 100 }",
      environment: environment)
  }
}
