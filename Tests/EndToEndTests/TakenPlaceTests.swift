import Foundation
import Testing

/// A place to listen that somebody else has: the daemon ends with the reason, and soon.
@Suite(.serialized) struct TakenPlaceTests {
  /// Listens until it is told not to.
  private struct Squatter {
    let port: Int
    private let descriptor: Int32

    init() throws {
      port = try FreePort.find()
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, size) == 0
        }
      }
      guard isBound, listen(descriptor, 1) == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    func leave() { close(descriptor) }
  }

  private static func replace(
    _ old: String, with new: String, in workplace: Workplace
  ) throws {
    let text = try String(contentsOfFile: workplace.configPath, encoding: .utf8)
    #expect(text.contains(old))
    try text.replacing(old, with: new)
      .write(toFile: workplace.configPath, atomically: true, encoding: .utf8)
  }

  private static func expectRefusal(_ place: String, in workplace: Workplace) async throws {
    let program = try Program(
      ["serve", "--config", workplace.configPath], in: workplace, name: "refused")
    let ended = await program.wait(seconds: 20)
    #expect(ended.status == 1, "\(ended.errors)")
    let words = ended.errors.split(separator: "\n").filter { $0.hasPrefix("zonerelay: ") }
    #expect(words.count == 2, "\(ended.errors)")
    #expect(words.first?.hasPrefix("zonerelay: error: ") == true)
    #expect(words.first?.contains(place) == true, "\(words)")
    #expect(words.last?.hasPrefix("zonerelay: hint: ") == true)
  }

  /// What was acknowledged outlives the start that failed.
  @Test func theAPIsPort() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure()
    var daemon = try await RunningDaemon.start(in: workplace)
    var producer = Producer(daemon.web, key: workplace.producerKey)
    let event = producer.event("created", record: "A", zone: "Z", user: "_abc")
    #expect(try await producer.post([event]).status == 202)
    await daemon.kill()
    let squatter = try Squatter()
    let (own, taken) = ("127.0.0.1:\(workplace.apiPort)", "127.0.0.1:\(squatter.port)")
    try Self.replace(own, with: taken, in: workplace)
    try await Self.expectRefusal(taken, in: workplace)
    squatter.leave()
    try Self.replace(taken, with: own, in: workplace)
    daemon = try await RunningDaemon.start(in: workplace)
    #expect(try await producer.post([event]).status == 202)
    #expect(try await daemon.status()["changes"]["duplicates"].int == 1)
    #expect(await daemon.stop().status == 0)
  }

  @Test func theMetricsPort() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    let squatter = try Squatter()
    defer { squatter.leave() }
    try workplace.configure()
    let socket = "socket: \(workplace.controlSocket)"
    let place = "127.0.0.1:\(squatter.port)"
    try Self.replace(socket, with: "\(socket)\n  metrics: \(place)", in: workplace)
    try await Self.expectRefusal(place, in: workplace)
  }

  @Test func theControlSocketsPath() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure()
    try Data("a file".utf8).write(to: workplace.file("control.sock"))
    try await Self.expectRefusal(workplace.controlSocket, in: workplace)
  }
}
