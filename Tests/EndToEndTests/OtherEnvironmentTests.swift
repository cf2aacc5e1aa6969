import Foundation
import Testing

/// Builds from a beta channel have tokens of Apple's production and records of development. The
/// test runs two stand-ins, one for each environment, and a relay that knows both environments.
@Suite(.serialized) struct OtherEnvironmentTests {
  @Test func `the relay finds a token's other APNs environment once and remembers it`() async throws
  {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let development = try await Standin.start(in: workplace, ["--environment", "development"])
    defer { development.stop() }
    let production = try await Self.production(in: workplace)
    defer { production.stop() }
    try Self.configure(workplace, production)
    var daemon = try await RunningDaemon.start(in: workplace)
    let phone = Phone(
      daemon.web, user: "_abc", in: workplace, pushToken: Self.token("production"))
    try await phone.register()
    try await phone.subscribe(toZone: "Z")
    var producer = Producer(daemon.web, key: workplace.producerKey)
    func change(_ record: String) async throws {
      let event = producer.event("created", record: record, zone: "Z", user: "_abc")
      #expect(try await producer.post([event]).status == 202)
    }
    func statuses(_ pushes: [JSON]) -> [Int?] { pushes.map { $0["status"].int } }

    try await change("A")
    #expect(try await Pause.until { try production.pushes(to: phone.pushToken).count == 1 })
    #expect(try statuses(development.pushes(to: phone.pushToken)) == [400])
    try await change("B")
    #expect(try await Pause.until { try production.pushes(to: phone.pushToken).count == 2 })
    // After a restart, the relay still knows which of APNs' environments knows the push token.
    #expect(await daemon.stop().status == 0)
    daemon = try await RunningDaemon.start(in: workplace)
    try await change("C")
    #expect(try await Pause.until { try production.pushes(to: phone.pushToken).count == 3 })
    #expect(try statuses(production.pushes(to: phone.pushToken)) == [200, 200, 200])
    #expect(try development.pushes(to: phone.pushToken).count == 1)
    #expect(try await Self.states(phone) == ["active"])

    // A device whose token neither environment knows is retired.
    let lost = Phone(daemon.web, user: "_abc", in: workplace, pushToken: Self.token("dead"))
    try await lost.register()
    try await change("D")
    #expect(try await Pause.until { try await Self.states(lost).contains("BadDeviceToken") })
    #expect(try statuses(development.pushes(to: lost.pushToken)) == [400])
    #expect(try statuses(production.pushes(to: lost.pushToken)) == [400])
    #expect(try await Pause.until { try production.pushes(to: phone.pushToken).count == 4 })
    #expect(try await daemon.status()["ledger"]["balanced"].bool == true)
    #expect(await daemon.stop().status == 0)
  }

  /// A push token whose first bytes are a word in ASCII. The word tells the stand-ins what to do.
  private static func token(_ word: String) -> String {
    word.utf8.map { String($0, radix: 16) }.joined() + "00ff"
  }

  /// Starts the production stand-in with the provider key of the development stand-in.
  private static func production(in workplace: Workplace) async throws -> OtherStandin {
    let directory = workplace.file("production")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: workplace.file("apns/AuthKey.p8"), to: directory.appendingPathComponent("AuthKey.p8"))
    let port = try FreePort.find()
    let program = try Program(
      [
        "apns-standin", "--listen", "127.0.0.1:\(port)", "--directory", directory.path,
        "--environment", "production",
      ], in: workplace, name: "production")
    guard await program.waitForLine("ready") else { throw TestFailure(program.errors) }
    return OtherStandin(program: program, directory: directory, port: port)
  }

  private static func configure(_ workplace: Workplace, _ production: OtherStandin) throws {
    let roots = try [workplace.file("apns"), production.directory].map {
      try String(contentsOf: $0.appendingPathComponent("ca.pem"), encoding: .utf8)
    }.joined()
    try roots.write(to: workplace.file("both.pem"), atomically: true, encoding: .utf8)
    try workplace.configure(
      window: "0s", extra: "budget: { background: { max: 60, per: 1h } }")
    let one = "endpoint: https://127.0.0.1:\(workplace.standinPort)\n"
    let indent = String(repeating: " ", count: 12)
    try workplace.reconfigure(
      (one, one + "\(indent)otherEndpoint: https://127.0.0.1:\(production.port)\n"),
      (workplace.file("apns/ca.pem").path, workplace.file("both.pem").path))
  }

  /// For each of the user's devices, the reason of its retirement, or else its state.
  private static func states(_ phone: Phone) async throws -> [String] {
    let answer = try await phone.web.post(
      "/device/1/\(phone.scope)/tokens/list", [String: Any](), token: phone.userToken)
    return answer.json["devices"].array.compactMap { $0["reason"].string ?? $0["state"].string }
  }
}
