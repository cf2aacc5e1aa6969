import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import RelayStandin

/// Faults over the control socket, for processes that cannot call ``APNsStandin/set(_:)``.
@Suite struct FaultControlTests {
  @Test func `the control socket shows, replaces and ends faults`() async throws {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let socket = "\(directory)/faults.sock"
    let standin = try await APNsStandin(
      StandinSettings(directory: directory, control: socket))
    let world = StandinWorld(standin: standin, directory: directory)
    try await StandinWorld.serving(standin) {
      let mode = try FileManager.default.attributesOfItem(atPath: socket)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
      #expect(try await Self.ask(socket, .GET, "/faults") == (200, "none\n"))
      #expect(
        try await Self.ask(socket, .PUT, "/faults", "answer 503\nslow 1ms")
          == (200, "answer ServiceUnavailable\nslow 1ms\n"))
      let client = try await world.connect()
      let answer = try await client.send(
        "POST", StandinWorld.path, world.headers(), StandinWorld.background)
      #expect(answer.status == 503 && answer.reason == "ServiceUnavailable")
      let wrong = try await Self.ask(socket, .POST, "/faults", "answer 503; fly")
      #expect(wrong.0 == 400 && wrong.1.contains("\"fly\" is no fault"))
      #expect(try await Self.ask(socket, .GET, "/faults").1.hasPrefix("answer"))
      #expect(try await Self.ask(socket, .DELETE, "/faults") == (200, "none\n"))
      #expect(try await Self.ask(socket, .PATCH, "/faults").0 == 405)
      #expect(try await Self.ask(socket, .GET, "/").0 == 404)
      try await client.close()
    }
    #expect(!FileManager.default.fileExists(atPath: socket))
  }

  /// The file has mode 0600 before the socket listens, so at no time can another user connect.
  @Test func `the control socket's file is its owner's from its creation on`() throws {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let path = "\(directory)/faults.sock"
    for _ in 1...2 {
      let descriptor = try FaultSocket.bind(path)
      defer { close(descriptor) }
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect((mode as? NSNumber)?.intValue == 0o600)
    }
    let other = "\(directory)/notes"
    try Data("text".utf8).write(to: URL(fileURLWithPath: other))
    #expect(throws: StandinError.self) { try FaultSocket.bind(other) }
    #expect(try String(contentsOfFile: other, encoding: .utf8) == "text")
  }

  @Test func `the FCM stand-in refuses a goaway fault and accepts an answer fault`() async throws {
    let directory = StandinWorld.temporaryDirectory()
    defer { StandinWorld.removeDirectory(directory) }
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let socket = "\(directory)/faults.sock"
    let standin = try await FCMStandin(directory: directory, control: socket)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await standin.run() }
      let (status, text) = try await Self.ask(socket, .PUT, "/faults", "goaway every=2")
      #expect(status == 400 && text.contains("has no goaway"))
      #expect(try await Self.ask(socket, .PUT, "/faults", "answer 429").0 == 200)
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  private static func ask(
    _ socket: String, _ method: HTTPMethod, _ path: String, _ body: String = ""
  ) async throws -> (Int, String) {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let answer = loop.makePromise(of: (Int, String).self)
    let channel = try await ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(
            Question(method: method, path: path, body: body, answer: answer))
        }
      }
      .connect(unixDomainSocketPath: socket).get()
    let said = try await answer.futureResult.get()
    try await channel.close().get()
    return said
  }
}

private final class Question: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  typealias OutboundOut = HTTPClientRequestPart

  private let method: HTTPMethod
  private let path: String
  private let body: String
  private let answer: EventLoopPromise<(Int, String)>
  private var status = 0
  private var text = ""

  init(
    method: HTTPMethod, path: String, body: String, answer: EventLoopPromise<(Int, String)>
  ) {
    (self.method, self.path, self.body, self.answer) = (method, path, body, answer)
  }

  func channelActive(context: ChannelHandlerContext) {
    let head = HTTPRequestHead(
      version: .http1_1, method: method, uri: path,
      headers: ["host": "standin", "content-length": "\(body.utf8.count)"])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): status = Int(head.status.code)
    case .body(let bytes): text += String(buffer: bytes)
    case .end: answer.succeed((status, text))
    }
  }
}
