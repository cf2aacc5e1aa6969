import CCurl
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import RelayCore
import Synchronization
import Testing

@testable import RelayPush

@Suite(.serialized, .timeLimit(.minutes(1))) struct WebEngineTests {
  private static func ask(
    _ engine: WebEngine, _ request: WebRequest, within timeout: Span = .seconds(5),
    to host: String = ""
  ) async -> Outcome {
    await withCheckedContinuation { continuation in
      engine.send(within: timeout, to: { host }) {
        request
      } answer: {
        continuation.resume(returning: $0)
      }
    }
  }

  /// Runs an engine against a server that answers every connection with `text`.
  private static func ask(answering text: String, _ reach: WebRequest.Reach = .anywhere)
    async throws -> Outcome
  {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Reply(text: text))
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    let port = channel.localAddress?.port ?? 0
    let engine = WebEngine()
    let outcome = await withTaskGroup(of: Void.self) { group in
      group.addTask { await engine.run() }
      let outcome = await ask(
        engine, WebRequest(url: "http://127.0.0.1:\(port)/x", headers: ["A: b"], body: [1]))
      group.cancelAll()
      return outcome
    }
    try await channel.close()
    return outcome
  }

  private static func answer(_ text: String) async throws -> Response? {
    guard case .answered(let answer) = try await ask(answering: text) else { return nil }
    return answer
  }

  @Test func `the engine reads an answer's status, body and Retry-After`() async throws {
    let text = "HTTP/1.1 429 Slow\r\nRetry-After: 12\r\nContent-Length: 2\r\n\r\nhi"
    let answer = try #require(try await Self.answer(text))
    #expect(answer.status == 429)
    #expect(RetryAfter.span(answer.header("retry-after")) == .seconds(12))
    #expect(answer.body == Array("hi".utf8))
  }

  @Test(arguments: ["-1", "soon", "86401", "Wed, 21 Oct 2015 07:28:00 GMT"])
  func `an invalid Retry-After is ignored, and a past date means no wait`(wish: String) async throws
  {
    let text = "HTTP/1.1 503 No\r\nRetry-After: \(wish)\r\nContent-Length: 0\r\n\r\n"
    let answer = try #require(try await Self.answer(text))
    #expect(RetryAfter.span(answer.header("retry-after")) == (wish.hasPrefix("Wed") ? .zero : nil))
  }

  @Test func `a redirect is an answer and is not followed`() async throws {
    let text =
      "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    #expect(try await Self.answer(text)?.status == 307)
  }

  @Test func `a body that is too long is cut off, and the answer keeps its status`() async throws {
    let text = "HTTP/1.1 201 Yes\r\n\r\n" + String(repeating: "x", count: 200_000)
    let answer = try #require(try await Self.answer(text))
    #expect(answer.status == 201)
    #expect(answer.body.count <= WebLimits().bodyBytesMax)
  }

  @Test func `a malformed answer counts as a lost connection`() async throws {
    guard case .failed(let failure) = try await Self.ask(answering: "HTTP/1.1 ") else {
      Issue.record("it was answered")
      return
    }
    #expect(failure.code == .lost)
  }

  @Test func `the engine reports a missing server, an invalid URL and a bad header`() async throws {
    let engine = WebEngine()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await engine.run() }
      for (url, header, code) in [
        ("http://127.0.0.1:1/", "A: b", TransportFailure.Code.unreachable),
        ("ftp://127.0.0.1/", "A: b", .invalid), ("http://", "A: b", .invalid),
        ("http://127.0.0.1:1/", "A: b\r\nC: d", .invalid),
      ] {
        let outcome = await Self.ask(engine, WebRequest(url: url, headers: [header], body: []))
        guard case .failed(let failure) = outcome else {
          Issue.record("\(url) was answered")
          continue
        }
        #expect(failure.code == code, "\(url): \(failure)")
        #expect(!failure.message.contains("127.0.0.1"))
      }
      group.cancelAll()
    }
  }

  /// Runs an engine beside a server at `host` that accepts connections and sends nothing.
  private static func withSilence(
    at host: String = "127.0.0.1", _ limits: WebLimits = WebLimits(),
    _ body: @Sendable @escaping (WebEngine, _ port: Int) async throws -> Void
  ) async throws {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: host, port: 0).get()
    let port = channel.localAddress?.port ?? 0
    var limits = limits
    limits.stopGrace = .zero
    let engine = WebEngine(limits: limits)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await engine.run() }
      try await body(engine, port)
      group.cancelAll()
    }
    try await channel.close()
  }

  /// Of the three requests, only the first may have been processed by the server.
  @Test func `the failure tells whether a request may have been processed`() async throws {
    var limits = WebLimits()
    limits.transfersMax = 2
    try await Self.withSilence(limits) { engine, port in
      let outcomes = Gathered<Outcome>(count: 3)
      for (number, scheme, timeout) in [(0, "http", 1_500), (1, "https", 1_500), (2, "http", 300)] {
        engine.send(within: Span(milliseconds: Int64(timeout)), to: { "" }) {
          WebRequest(url: "\(scheme)://127.0.0.1:\(port)/", headers: [], body: [1])
        } answer: {
          outcomes.put(number, $0)
        }
      }
      let failures = await outcomes.all().map(\.failure)
      #expect(
        failures == [
          TransportFailure(.timeout, "no answer in time"),
          TransportFailure(.unreachable, "unreachable: no connection in time"),
          TransportFailure(.unreachable, "unreachable: no free place in time"),
        ])
    }
  }

  /// At most `transfersPerHostMax` of the engine's transfers go to one host, so a silent host
  /// leaves the other transfers free.
  @Test func `a silent host does not delay other hosts`() async throws {
    var limits = WebLimits()
    limits.transfersMax = 4
    limits.transfersPerHostMax = 3
    try await Self.withSilence(at: "127.0.0.2", limits) { engine, port in
      let silent = Mutex(0)
      for _ in 0..<100 {
        engine.send(within: .seconds(30), to: { "127.0.0.2" }) {
          WebRequest(url: "http://127.0.0.2:\(port)/", headers: [], body: [1])
        } answer: { _ in
          silent.withLock { $0 += 1 }
        }
      }
      // No server listens at this URL, and the engine finds that out only after each request gets a
      // place.
      let other = WebRequest(url: "http://127.0.0.1:1/", headers: [], body: [1])
      for _ in 0..<20 {
        let outcome = await Self.ask(engine, other, within: .seconds(20), to: "127.0.0.1")
        let failure = outcome.failure
        #expect(failure?.message.hasPrefix("unreachable: no ") == false, "\(outcome)")
      }
      #expect(silent.withLock { $0 } == 0)
    }
  }

  /// Earlier, a user's endpoints under many names took all places and delayed other pushes for 9 s.
  @Test func `silent hosts under many names do not delay a host that answers`() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Reply(text: "HTTP/1.1 201 Yes\r\nContent-Length: 0\r\n\r\n"))
        }
      }.bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    var limits = WebLimits()
    limits.transfersMax = 8
    limits.transfersToUnprovenMax = 4
    try await Self.withSilence(at: "127.0.0.2", limits) { engine, silentPort in
      let good = WebRequest(url: "http://127.0.0.1:\(port)/", headers: [], body: [1])
      func ask() async -> Int? {
        guard
          case .answered(let answer) = await Self.ask(
            engine, good, within: .seconds(20), to: "service")
        else { return nil }
        return answer.status
      }
      #expect(await ask() == 201)
      let silent = Mutex(0)
      for number in 0..<100 {
        engine.send(within: .seconds(30), to: { "tarpit-\(number)" }) {
          WebRequest(url: "http://127.0.0.2:\(silentPort)/", headers: [], body: [1])
        } answer: { _ in
          silent.withLock { $0 += 1 }
        }
      }
      for _ in 0..<20 { #expect(await ask() == 201) }
      #expect(silent.withLock { $0 } == 0)
    }
    try await server.close()
  }

  /// Earlier, libcurl's built-in directory of authorities stayed in force beside `trustRoots`.
  @Test(arguments: [false, true])
  func `the given trust roots replace libcurl's directory of authorities`(isGiven: Bool)
    async throws
  {
    let (server, other) = (try Certificate(), try Certificate(subject: "other"))
    let authorities = server.directory + "/authorities"
    try FileManager.default.createDirectory(
      atPath: authorities, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: server.certificate, toPath: authorities + "/server.pem")
    try Certificate.openssl("rehash", authorities)
    let channel = try await Self.secure(server)
    let url = "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/"
    let roots = isGiven ? other.certificate : nil
    // The call of libcurl blocks its caller's thread, so the test makes it on a new thread.
    let result: UInt32 = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let handle = WebHandle()
        zr_curl_set_string(handle.easy, CURLOPT_CAPATH, authorities)
        do {
          try handle.prepare(WebRequest(url: url, headers: [], body: [1], trustRoots: roots))
          continuation.resume(returning: curl_easy_perform(handle.easy).rawValue)
        } catch {
          continuation.resume(returning: .max)
        }
      }
    }
    #expect(result == (isGiven ? CURLE_PEER_FAILED_VERIFICATION : CURLE_OK).rawValue)
    try await channel.close()
  }

  /// A TLS server that accepts every request.
  private static func secure(_ certificate: Certificate) async throws -> any Channel {
    let chain = try NIOSSLCertificate.fromPEMFile(certificate.certificate)
    let context = try NIOSSLContext(
      configuration: .makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem))))
    return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            NIOSSLServerHandler(context: context),
            Reply(text: "HTTP/1.1 201 Yes\r\nContent-Length: 0\r\n\r\n"),
          ])
        }
      }.bind(host: "127.0.0.1", port: 0).get()
  }
}

/// Answers the first bytes of a connection with `text`, and closes the connection.
private final class Reply: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let text: String

  init(text: String) { self.text = text }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).assumeIsolated()
      .whenComplete { _ in context.close(promise: nil) }
  }
}
