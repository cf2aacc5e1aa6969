import Foundation
import HTTPTypes
import Logging
import NIOCore
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import ServiceLifecycle
import Synchronization
import Testing

/// The courier over live sockets: one answer for each poll, events on a stream, one connection for
/// each device.
@Suite struct CourierTests {
  private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
  private let payload = Array(#"{"aps":{"content-available":1},"zr":{"w":7}}"#.utf8)

  /// Passes a listening rig, a device's courier address and a port to `body`.
  private func serving(
    _ limits: HTTPLimits = HTTPLimits(),
    _ body: @Sendable (Rig, String, Int) async throws -> Void
  ) async throws {
    let rig = await Rig(limits: limits)
    let registration = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(
      try await rig.device("tokens/register", registration, client: Rig.phone)
        .string("webcourierURL"))
    let path = String(url.dropFirst("https://relay.example.com".count))
    let (listening, bound) = AsyncStream.makeStream(of: Int.self)
    var settings = rig.settings
    settings.listen = .tcp(host: "127.0.0.1", port: 0)
    let server = try APIServer(
      api: rig.api, settings: settings, clock: TestClock()
    ) { bound.yield($0?.port ?? 0) }
    let group = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      for await port in listening {
        try await body(rig, path, port)
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  private static let device = DeviceKey(
    scope: Rig.scope, user: UserID("_abc"), client: ClientID(text: Rig.phone)!)

  private func until(_ isTrue: () -> Bool) async {
    for _ in 0..<4_000 {
      if isTrue() { return }
      // Polls for a state that other tasks reach, in place of one fixed sleep.
      try? await ContinuousClock().sleep(for: .milliseconds(2))
    }
    Issue.record("it did not become true")
  }

  private func tell(_ rig: Rig, wake: UInt32 = 7, _ payload: [UInt8]? = nil) async -> Verdict {
    await withCheckedContinuation { waiter in
      rig.courier.tell(Self.device, wake: wake, payload: payload ?? self.payload) {
        waiter.resume(returning: $0)
      }
    }
  }

  @Test func `a poll is answered once with the push dictionary`() async throws {
    try await serving { rig, path, port in
      async let text = stranger {
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return socket.receive(until: "}}")
      }
      await until { rig.relay.seen.connected.count == 1 }
      #expect(rig.relay.seen.connected[0].device == Self.device)
      #expect(await tell(rig) == .delivered)
      let answer = try await text
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(answer.contains("Cache-Control: no-store"))
      #expect(answer.contains("Content-Type: application/json"))
      #expect(answer.hasSuffix(String(decoding: payload, as: UTF8.self)))
      #expect(rig.relay.seen.left.map(\.isExpectedBack) == [true])
      await until { rig.courier.count == 0 }
      guard case .later = await tell(rig, wake: 8) else {
        Issue.record("no device polls any more")
        return
      }
    }
  }

  @Test func `a device's second poll ends its first one empty and takes its place`()
    async throws
  {
    var limits = HTTPLimits()
    limits.courierConnections = 1
    try await serving(limits) { rig, path, port in
      async let first = stranger {
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return socket.receive()
      }
      await until { rig.relay.seen.connected.count == 1 }
      async let second = stranger {
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return socket.receive()
      }
      let answer = try await first
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n"))
      await until { rig.relay.seen.connected.count == 2 }
      #expect(rig.courier.count == 1)
      #expect(await tell(rig) == .delivered)
      let told = try await second
      #expect(told.hasSuffix("}}"))
    }
  }

  @Test func `a stream carries events with ids and resumes after the last one`()
    async throws
  {
    try await serving { rig, path, port in
      async let text = stranger {
        let socket = try #require(Socket(port: port))
        socket.send(
          "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
            + "Last-Event-ID: 6\r\n\r\n")
        var text = socket.receive(until: "\n\n")
        for _ in 0..<2 { text += socket.receive(until: "}}\n\n") }
        return text
      }
      await until { rig.relay.seen.connected.count == 1 }
      #expect(rig.relay.seen.connected[0].after == 6)
      #expect(await tell(rig) == .delivered)
      #expect(await tell(rig, wake: 8) == .delivered)
      let answer = try await text
      #expect(answer.contains("Content-Type: text/event-stream\r\n"))
      #expect(answer.contains("Cache-Control: no-store\r\n"))
      let data = String(decoding: payload, as: UTF8.self)
      #expect(answer.contains("id: 7\ndata: \(data)\n\n"))
      #expect(answer.contains("id: 8\ndata: \(data)\n\n"))
    }
  }

  @Test func `a device that hangs up is no longer connected`() async throws {
    try await serving { rig, path, port in
      for accept in ["*/*", "text/event-stream"] {
        let before = rig.relay.seen.left.count
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\n\r\n")
        await until { rig.courier.count == 1 }
        shutdown(socket.fd, Int32(SHUT_RDWR))
        await until { rig.relay.seen.left.count == before + 1 }
        #expect(rig.relay.seen.left.last?.isExpectedBack == false)
        await until { rig.courier.count == 0 }
      }
    }
  }

  /// Limit: limits.courierConnections
  @Test(arguments: [(devices: 1, held: 1), (2, 2), (3, 2)])
  func `a poll or stream beyond the limit is refused with a retry time`(
    devices: Int, held: Int
  ) async throws {
    var limits = HTTPLimits()
    limits.courierConnections = 2
    try await serving(limits) { rig, path, port in
      var paths = [path]
      for number in 1..<max(2, devices) {
        let body = #"{"apnsEnvironment":"development","apnsToken":"0\#(number)ff"}"#
        let url = try #require(
          try await rig.device("tokens/register", body).string("webcourierURL"))
        paths.append(String(url.dropFirst("https://relay.example.com".count)))
      }
      var sockets: [Socket] = []
      for (index, path) in paths.prefix(devices).enumerated() {
        let accept = index.isMultiple(of: 2) ? "*/*" : "text/event-stream"
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\n\r\n")
        sockets.append(socket)
        guard index >= held else {
          await until { rig.courier.count == index + 1 }
          continue
        }
        let text = try await stranger { socket.receive(until: "}") }
        #expect(text.hasPrefix("HTTP/1.1 503 ") && text.contains("Retry-After: 5\r\n"))
        #expect(text.contains("TRY_AGAIN_LATER") && text.contains("too many couriers"))
      }
      #expect(rig.courier.count == held && sockets.count == devices)
    }
  }

  /// The relay keeps at most one unread answer for each device, so its memory stays bounded.
  @Test func `a client that does not read is refused more answers and disconnected`() async throws {
    var limits = HTTPLimits()
    limits.courierReadSeconds = 1
    try await serving(limits) { rig, path, port in
      let socket = try #require(Socket(port: port))
      socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
      await until { rig.courier.count == 1 }
      let large = [UInt8](repeating: 0x20, count: 512 * 1_024)
      var written = 0
      // Write until the kernel's buffers of both sides are full.
      while await tell(rig, large) == .delivered, written < 64 { written += 1 }
      #expect(written < 64, "who does not read is told no more")
      await until { rig.courier.count == 0 }
      #expect(rig.relay.seen.left.map(\.isExpectedBack) == [false])
    }
  }

  @Test func `a second answer is refused at once while the first is unread`() async throws {
    try await serving { rig, path, port in
      let socket = try #require(Socket(port: port))
      socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
      await until { rig.courier.count == 1 }
      let stuck = Mutex<[Verdict]>([])
      // More bytes than the kernel's buffers of both sides hold.
      let huge = [UInt8](repeating: 0x20, count: 32 * 1_024 * 1_024)
      rig.courier.tell(Self.device, wake: 7, payload: huge) { verdict in
        stuck.withLock { $0.append(verdict) }
      }
      guard case .later = await tell(rig, wake: 8) else {
        Issue.record("a second answer was taken")
        return
      }
      #expect(stuck.withLock { $0.isEmpty }, "the first is still on its way")
      shutdown(socket.fd, Int32(SHUT_RDWR))
      await until { stuck.withLock { $0.count } == 1 }
      #expect(rig.courier.count == 0)
    }
  }

  @Test func `at a stop the courier answers polls empty and ends streams at once`() async throws {
    let ends = Mutex<[String]>([])
    let begun = ContinuousClock.now
    try await serving { rig, path, port in
      let other = #"{"apnsEnvironment":"development","apnsToken":"00aa"}"#
      let url = try #require(
        try await rig.device("tokens/register", other, client: Rig.tablet)
          .string("webcourierURL"))
      let second = String(url.dropFirst("https://relay.example.com".count))
      for (path, accept) in [(path, "*/*"), (second, "text/event-stream")] {
        Thread.detachNewThread {
          let socket = Socket(port: port)
          socket?.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\n\r\n")
          let text = socket?.receive() ?? ""
          ends.withLock { $0.append(text) }
        }
      }
      await until { rig.courier.count == 2 }
    }
    await until { ends.withLock { $0.count } == 2 }
    let texts = ends.withLock { $0 }
    #expect(texts.contains { $0.contains("Content-Length: 0\r\n") }, "the poll: \(texts)")
    #expect(texts.contains { $0.hasSuffix("0\r\n\r\n") }, "the stream: \(texts)")
    #expect(ContinuousClock.now - begun < .seconds(4), "and no poll waited for the 55 seconds")
  }

  @Test func `an idle poll is answered empty, and an idle stream gets a keep-alive`() async throws {
    var limits = HTTPLimits()
    limits.courierHoldSeconds = 2
    try await serving(limits) { rig, path, port in
      let poll = try await stranger {
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return socket.receive()
      }
      #expect(poll.hasPrefix("HTTP/1.1 200 OK\r\n") && poll.hasSuffix("\r\n\r\n"))
      #expect(rig.relay.seen.left.last?.isExpectedBack == true)
      let stream = try await stranger {
        let socket = try #require(Socket(port: port))
        socket.send("GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        return socket.receive(until: "\n:\n\n")
      }
      #expect(stream.hasSuffix("\r\n:\n\n"))
    }
  }

  @Test func `the courier ends the connection of a device that is gone`() async throws {
    try await serving { rig, path, port in
      async let text = stranger {
        let socket = try #require(Socket(port: port))
        socket.send(
          "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
            + "Connection: close\r\n\r\n")
        return socket.receive()
      }
      await until { rig.courier.count == 1 }
      rig.courier.hangUp(Self.device)
      let answer = try await text
      #expect(answer.hasSuffix("0\r\n\r\n"))
    }
  }

  /// A reload has removed the environment from the configuration.
  @Test func `polls and streams of a removed environment end`() async throws {
    try await serving { rig, path, port in
      for accept in ["*/*", "text/event-stream"] {
        let before = rig.relay.seen.left.count
        async let text = stranger {
          let socket = try #require(Socket(port: port))
          socket.send(
            "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: \(accept)\r\nConnection: close\r\n\r\n")
          return socket.receive()
        }
        await until { rig.courier.count == 1 }
        rig.courier.keep { $0 == Rig.scope }
        #expect(rig.courier.count == 1, "its environment is still there")
        rig.courier.keep { $0 != Rig.scope }
        let answer = try await text
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.hasSuffix(accept == "*/*" ? "\r\n\r\n" : "0\r\n\r\n"))
        #expect(rig.courier.count == 0)
        #expect(rig.relay.seen.left.dropFirst(before).map(\.isExpectedBack) == [false])
      }
      await rig.registry.replace(with: [:])
      #expect(try await rig.send(.get, path).status == 410)
    }
  }

  /// The relay checks the address before the reload, and opens the connection after the reload.
  @Test func `a stream that opens while its environment is removed ends as well`() async throws {
    try await serving { rig, path, port in
      let registry = rig.registry
      rig.relay.behave { $0.onDevice = { await registry.replace(with: [:]) } }
      let text = try await stranger {
        let socket = try #require(Socket(port: port))
        socket.send(
          "GET \(path) HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
            + "Connection: close\r\n\r\n")
        return socket.receive()
      }
      #expect(text.hasSuffix("0\r\n\r\n"))
      #expect(rig.courier.count == 0)
    }
  }

  @Test func `a device may use the courier as its only transport`() async throws {
    let rig = await Rig()
    let created = try await rig.device("tokens/create", #"{"apnsEnvironment":"development"}"#)
    #expect(created.status == 200)
    #expect(try created.string("apnsEnvironment") == "development")
    let token = try #require(try created.string("apnsToken"))
    #expect(token.count == 64 && token == token.lowercased() && Hex.bytes(token) != nil)
    let client = try #require(try created.string("clientId"))
    #expect(ClientID(text: client) != nil)
    let url = try #require(try created.string("webcourierURL"))
    let path = String(url.dropFirst("https://relay.example.com".count))
    #expect(try await rig.send(.get, path).status == 200)
    let list = try await rig.device("tokens/list")
    #expect(try list.each("devices", "transport") == ["courier"])
    #expect(try list.each("devices", "clientId") == [client])
    let named = try await rig.device(
      "tokens/create", #"{"apnsEnvironment":"production","clientId":"\#(Rig.phone)"}"#)
    #expect(try named.string("clientId") == Rig.phone)
    #expect(try named.string("apnsToken") != token)
    let gone = try await rig.device("tokens/unregister", #"{"apnsToken":"\#(token)"}"#)
    #expect(gone.status == 200)
    #expect(try await rig.device("tokens/list").each("devices", "clientId") == [Rig.phone])
    #expect(try await rig.send(.get, path).status == 410)
    #expect(try await rig.device("tokens/create", "{}").status == 400)
    #expect(
      try await rig.device("tokens/create", #"{"apnsEnvironment":"moon"}"#).status == 400)
  }
}
