import Foundation
import Testing

/// Another process holds the listening address: the daemon exits soon and reports the reason.
@Suite(.serialized) struct TakenPlaceTests {
  private static func expectRefusal(_ place: String, in workplace: Workplace) async throws {
    let mailbox = try Mailbox(workplace.file("notify").path)
    let program = try Program(
      [
        "NOTIFY_SOCKET=\(workplace.file("notify").path)", Program.binary.path, "serve",
        "--config", workplace.configPath,
      ], in: workplace, name: "refused", program: URL(fileURLWithPath: "/usr/bin/env"))
    let ended = await program.wait(seconds: 20)
    #expect(ended.status == 1, "\(ended.errors)")
    let words = ended.errors.split(separator: "\n").filter { $0.hasPrefix("zonerelay: ") }
    #expect(words.count == 2, "\(ended.errors)")
    #expect(words.first?.hasPrefix("zonerelay: error: ") == true)
    #expect(words.first?.contains(place) == true, "\(words)")
    #expect(words.last?.hasPrefix("zonerelay: hint: ") == true)
    #expect(!mailbox.letters.contains("READY=1"), "systemd must not hear that it serves")
  }

  /// Acknowledged changes are kept when a start fails.
  @Test func `a start fails if the API's port is in use`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    var daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let event = producer.event("created", record: "A", zone: "Z", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    await daemon.kill()
    let squatter = try TakenPort()
    let (own, taken) = ("127.0.0.1:\(workplace.apiPort)", "127.0.0.1:\(squatter.port)")
    try workplace.reconfigure((own, taken))
    try await Self.expectRefusal(taken, in: workplace)
    squatter.leave()
    try workplace.reconfigure((taken, own))
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await producer.post([event]).status == 202)
    #expect(try await daemon.status()["changes"]["duplicates"].int == 1)
    #expect(await daemon.stop().status == 0)
  }

  @Test func `a start fails if the metrics port is in use`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    let squatter = try TakenPort()
    defer { squatter.leave() }
    try workplace.configure()
    let socket = "socket: \(workplace.controlSocket)"
    let place = "127.0.0.1:\(squatter.port)"
    try workplace.reconfigure((socket, "\(socket)\n  metrics: \(place)"))
    try await Self.expectRefusal(place, in: workplace)
  }

  @Test func `a start fails if the path of the provider tokens is a file`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    let tokens = workplace.file("store").appendingPathComponent("provider-tokens")
    try Data("a file".utf8).write(to: tokens)
    try await Self.expectRefusal("\(tokens.path) is no directory", in: workplace)
  }

  @Test func `a start fails if the control socket's path is a file`() async throws {
    let (workplace, _) = try await Workplace.withStandin()
    defer { workplace.remove() }
    try Data("a file".utf8).write(to: workplace.file("control.sock"))
    try await Self.expectRefusal(workplace.controlSocket, in: workplace)
  }
}
