import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOSSL
import RelayCore
import RelayEngine
import RelayHTTP
import ServiceLifecycle
import Synchronization
import Testing

/// The server's listeners, over real sockets on loopback.
@Suite struct ListenerTests {
  private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  /// Runs a service, passes its address to `body`, and stops it gracefully afterwards.
  private func serving<Result: Sendable>(
    _ make: (@escaping @Sendable (SocketAddress?) -> Void) throws -> any Service,
    _ body: @Sendable (SocketAddress?) async throws -> Result
  ) async throws -> Result {
    let (listening, bound) = AsyncStream.makeStream(of: SocketAddress?.self)
    let group = ServiceGroup(
      services: [try make { bound.yield($0) }], logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { bound.finish() }
        try await group.run()
      }
      var addresses = listening.makeAsyncIterator()
      guard let address = await addresses.next() else {
        try await tasks.waitForAll()
        throw Failed()
      }
      let result = try await body(address)
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
      return result
    }
  }

  private struct Failed: Error {}

  private func server(
    _ rig: Rig, on listen: ListenTarget, tls: TLSFiles? = nil,
    _ tell: @escaping @Sendable (SocketAddress?) -> Void
  ) throws -> APIServer {
    var settings = rig.settings
    settings.listen = listen
    settings.tls = tls
    return try APIServer(
      api: rig.api, settings: settings, clock: TestClock(), onListening: tell)
  }

  /// The answer of a server over TCP to the bytes of one client.
  private func answer(of rig: Rig, to text: String) async throws -> String {
    try await serving {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), $0)
    } _: { address in
      try await stranger {
        let socket = try #require(Socket(port: address?.port ?? 0))
        socket.send(text)
        return socket.receive()
      }
    }
  }

  /// An answer is for one caller, so no cache may store it.
  @Test func `an answer over TCP has a Date header and forbids caching`() async throws {
    let rig = await Rig()
    let text = try await answer(
      of: rig, to: "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(text.contains("Date: Sat, 21 Nov 2026 03:00:00 GMT\r\n"))
    #expect(text.contains("Cache-Control: no-store\r\n"))
    #expect(text.hasSuffix(#"{"live":true}"#))
  }

  @Test func `the server takes over a socket that is already bound`() async throws {
    let rig = await Rig()
    let bound = Socket.bound()
    let text = try await serving {
      try server(rig, on: .inherited([bound.fd]), $0)
    } _: { _ in
      try await stranger {
        let socket = try #require(Socket(port: bound.port))
        socket.send("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return socket.receive()
      }
    }
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
  }

  @Test(arguments: [false, true])
  func `several sockets are served at once, and all are closed`(areSharing: Bool) async throws {
    let rig = await Rig()
    let first = Socket.bound(isSharing: areSharing)
    let second = Socket.bound(port: areSharing ? first.port : 0, isSharing: areSharing)
    #expect((first.port == second.port) == areSharing)
    let texts = try await serving {
      try server(rig, on: .inherited([first.fd, second.fd]), $0)
    } _: { _ in
      try await stranger {
        // Of 32 connections the kernel gives some to each of the sockets that share a port.
        try (0..<32).map { number in
          let socket = try #require(Socket(port: number % 2 == 0 ? first.port : second.port))
          socket.send("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
          return socket.receive()
        }
      }
    }
    #expect(texts.allSatisfy { $0.hasPrefix("HTTP/1.1 200 OK\r\n") })
    #expect(Socket(port: first.port) == nil && Socket(port: second.port) == nil)
  }

  @Test func `a client that expects 100 Continue gets it before it sends its body`() async throws {
    let rig = await Rig()
    let body = Event().text
    let text = try await serving {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), $0)
    } _: { address in
      try await stranger {
        let socket = try #require(Socket(port: address?.port ?? 0))
        socket.send(
          "POST /events/1/\(Rig.container)/development HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            + "Authorization: Bearer \(Rig.producerKey)\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Content-Type: application/cloudevents+json\r\nExpect: 100-continue\r\n\r\n")
        #expect(socket.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue\r\n"))
        socket.send(body)
        return socket.receive()
      }
    }
    #expect(text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
  }

  @Test func `a page counts as read once it is written`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await Rig.token(for: "_abc")
    _ = try await answer(
      of: rig,
      to: "POST /database/1/\(Rig.container)/development/private/changes/database"
        + "?clientId=\(Rig.phone) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        + "Authorization: Bearer \(token)\r\nContent-Length: 2\r\n\r\n{}")
    #expect(rig.relay.seen.readings.count == 1)
  }

  @Test func `bytes that are not HTTP are answered 400`() async throws {
    let rig = await Rig()
    let text = try await answer(of: rig, to: "this is not HTTP\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    for part in [
      "Cache-Control: no-store\r\n", "Connection: close\r\n", "Date: ",
      "Content-Type: application/json\r\n", #""serverErrorCode":"BAD_REQUEST""#,
    ] {
      #expect(text.contains(part))
    }
    #expect(text.hasSuffix("}"))
  }

  @Test func `an idle connection is closed when the daemon stops`() async throws {
    let rig = await Rig()
    let idle = Mutex<Socket?>(nil)
    try await serving {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), $0)
    } _: { address in
      try await stranger {
        let socket = try #require(Socket(port: address?.port ?? 0))
        socket.send("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(socket.receive(until: "true}").hasPrefix("HTTP/1.1 200 OK"))
        idle.withLock { $0 = socket }
      }
    }
  }

  @Test func `a held courier poll is answered when the daemon stops`() async throws {
    let rig = await Rig(limits: HTTPLimits())
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(try await rig.device("tokens/register", body).string("webcourierURL"))
    let path = url.dropFirst("https://relay.example.com".count)
    let (asked, asks) = AsyncStream.makeStream(of: Void.self)
    rig.relay.behave { $0.onRead = { asks.yield() } }
    let answer = AsyncStream.makeStream(of: String.self)
    try await serving {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), $0)
    } _: { address in
      Thread.detachNewThread {
        let socket = Socket(port: address?.port ?? 0)
        socket?.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        answer.continuation.yield(socket?.receive(until: "\r\n\r\n") ?? "")
      }
      for await _ in asked { break }
    }
    for await text in answer.stream {
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      break
    }
  }

  @Test func `the error for a port in use names the address`() async throws {
    let rig = await Rig()
    let bound = Socket.bound()
    let error = await #expect(throws: ListenError.self) {
      try await server(rig, on: .tcp(host: "127.0.0.1", port: bound.port)) { _ in }.run()
    }
    #expect(error?.description.contains("cannot listen on 127.0.0.1:\(bound.port)") == true)
    close(bound.fd)
  }

  @Test func `a request over TLS is answered`() async throws {
    let rig = await Rig()
    let directory = try directory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let files = TLSFiles(certificate: directory + "/cert.pem", key: directory + "/key.pem")
    try LoopbackCertificate.certificate.write(
      toFile: files.certificate, atomically: true, encoding: .utf8)
    try LoopbackCertificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
    let status = try await serving {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), tls: files, $0)
    } _: { address in
      var trusting = TLSConfiguration.makeClientConfiguration()
      trusting.certificateVerification = .none
      return try await TestClient.withClient(
        host: "127.0.0.1", port: address?.port ?? 0,
        configuration: TestClient.Configuration(tlsConfiguration: trusting, serverName: "localhost")
      ) { client in
        try await client.execute(
          TestClient.Request("/health/live", method: .get, authority: "localhost")
        ).status.code
      }
    }
    #expect(status == 200)
  }

  /// Replaces the files at the same paths, as certbot does.
  @Test func `new connections get a renewed certificate`() async throws {
    let rig = await Rig()
    let directory = try directory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let files = TLSFiles(certificate: directory + "/cert.pem", key: directory + "/key.pem")
    @Sendable func issue(_ name: String) throws {
      try openssl([
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2", "-keyout", files.key, "-out", files.certificate, "-subj", "/CN=\(name)",
      ])
    }
    try issue("first")
    let shown = Mutex<ServerCertificate?>(nil)
    try await serving {
      let made = try server(rig, on: .tcp(host: "127.0.0.1", port: 0), tls: files, $0)
      shown.withLock { $0 = made.certificate }
      return made
    } _: { address in
      let certificate = try #require(shown.withLock { $0 })
      let port = address?.port ?? 0
      #expect(try await stranger { try openssl(subjectAt: port) }.contains("first"))
      try issue("second")
      certificate.replace(with: try ServerCertificate.Pair(files))
      #expect(try await stranger { try openssl(subjectAt: port) }.contains("second"))
      // A key of another certificate is detected, and the served certificate stays.
      try LoopbackCertificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
      #expect(throws: ListenError.self) { try ServerCertificate.Pair(files) }
      #expect(try await stranger { try openssl(subjectAt: port) }.contains("second"))
    }
  }

  @Test func `the error for unusable TLS files names the file`() async throws {
    let rig = await Rig()
    let files = TLSFiles(certificate: "/nowhere/cert.pem", key: "/nowhere/key.pem")
    let error = #expect(throws: ListenError.self) {
      try server(rig, on: .tcp(host: "127.0.0.1", port: 0), tls: files) { _ in }
    }
    #expect(error?.description.contains("/nowhere/cert.pem") == true)
  }

  /// The certificate that a new client gets.
  private func openssl(subjectAt port: Int) throws -> String {
    try openssl(["s_client", "-connect", "127.0.0.1:\(port)"])
  }

  @discardableResult
  private func openssl(_ arguments: [String]) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: said, as: UTF8.self)
  }

  private func directory() throws -> String {
    let path =
      FileManager.default.temporaryDirectory.path + "/zr-\(UInt32.random(in: 0...UInt32.max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  private func control(
    _ rig: Rig, at path: String, _ tell: @escaping @Sendable (SocketAddress?) -> Void
  ) -> ControlServer {
    var settings = rig.settings
    settings.controlSocket = path
    return ControlServer(
      admin: rig.admin, settings: settings, clock: TestClock(), onListening: tell)
  }

  @Test func `only its owner may use the control socket, and a stop removes it`() async throws {
    let rig = await Rig()
    let directory = try directory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/control.sock"
    let text = try await serving {
      control(rig, at: path, $0)
    } _: { _ in
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      return try await stranger {
        let socket = try #require(Socket(path: path))
        socket.send("GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return socket.receive()
      }
    }
    #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `the control server removes only a stale socket file`() async throws {
    let rig = await Rig()
    let directory = try directory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/control.sock"
    try await serving {
      control(rig, at: path, $0)
    } _: { _ in
      let error = await #expect(throws: ListenError.self) {
        try await control(rig, at: path) { _ in }.run()
      }
      #expect(error?.description.contains("another daemon answers") == true)
      // The hard link is a socket file that stays after the listener has ended. A killed daemon
      // leaves such a file.
      try FileManager.default.linkItem(atPath: path, toPath: directory + "/stale.sock")
    }
    #expect(Socket(path: directory + "/stale.sock") == nil)
    try await serving {
      control(rig, at: directory + "/stale.sock", $0)
    } _: { _ in
      #expect(Socket(path: directory + "/stale.sock") != nil)
    }
    let file = directory + "/file"
    try Data("precious".utf8).write(to: URL(fileURLWithPath: file))
    let error = await #expect(throws: ListenError.self) {
      try await control(rig, at: file) { _ in }.run()
    }
    #expect(error?.description.contains("is no socket") == true)
    #expect(FileManager.default.contents(atPath: file) == Data("precious".utf8))
    await #expect(throws: ListenError.self) {
      try await control(rig, at: directory + String(repeating: "/x", count: 60)) { _ in }.run()
    }
  }

  @Test func `the metrics listener serves only metrics`() async throws {
    let rig = await Rig()
    let directory = try directory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var settings = rig.settings
    settings.controlSocket = directory + "/control.sock"
    settings.metrics = .tcp(host: "127.0.0.1", port: 0)
    let texts = try await serving { tell in
      ControlServer(
        admin: rig.admin, settings: settings, clock: TestClock(),
        onMetricsListening: tell)
    } _: { address in
      try await stranger {
        try ["/metrics", "/status"].map { path in
          let socket = try #require(Socket(port: address?.port ?? 0))
          socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
          return socket.receive()
        }
      }
    }
    #expect(texts[0].contains("zonerelay_uptime_seconds 0\n"))
    #expect(texts[1].hasPrefix("HTTP/1.1 404"))
  }
}
