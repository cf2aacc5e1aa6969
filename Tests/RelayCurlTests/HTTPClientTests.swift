import Foundation
import Glibc
@testable import RelayCurl
import Testing

/// What the client guarantees to its callers.
@Suite struct HTTPClientTests {
  private func failure(_ client: HTTPClient, _ request: HTTPRequest) async -> ClientError? {
    do throws(ClientError) {
      _ = try await client.send(request)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("GET", "", "GET /echo [accept,host,x-one] none "),
    (
      "POST", "{}",
      "POST /echo [accept,content-length,content-type,host,x-one] application/json {}"
    ),
    ("POST", "", "POST /echo [accept,content-length,host,x-one] none "),
    ("HEAD", "", ""),
    (
      "DELETE", "a",
      "DELETE /echo [accept,content-length,content-type,host,x-one] application/json a"
    ),
  ])
  func `method, headers and body are sent as given`(method: String, body: String, expected: String)
    async throws
  {
    try await EchoServer.overTCP { server in
      var request = HTTPRequest(method, "\(server.url)/echo", headers: [("X-One", "1")])
      request.body = Array(body.utf8)
      let answer = try await HTTPClient().send(request)
      #expect(answer.status == 200 && answer.isSuccess)
      #expect(answer.text == expected)
      #expect(answer.header("retry-after") == "7")
    }
  }

  @Test func `a connection can be tried without a request`() async throws {
    try await EchoServer.overTCP { server in
      let times = try await HTTPClient().connect(HTTPRequest("GET", "\(server.url)/never"))
      #expect(times.connected > .zero && times.secured == .zero)
      #expect(times.all >= times.connected && times.connected >= times.lookedUp)
    }
  }

  @Test func `a connection that is refused or speaks no TLS says which step failed`() async throws {
    try await EchoServer.overTCP { server in
      let plain = server.url.replacing("http:", with: "https:")
      for (url, code) in [
        (plain, ClientError.Code.tls), ("http://127.0.0.1:1", .refused),
        ("http://name-without-address.invalid", .noHost),
      ] {
        let error = await #expect(throws: ClientError.self) {
          try await HTTPClient().connect(HTTPRequest("GET", url, timeout: .seconds(5)))
        }
        #expect(error?.code == code, "\(url): \(String(describing: error))")
      }
    }
  }

  @Test func `a request can go to another address than the URL's own`() async throws {
    try await EchoServer.overTCP { server in
      var request = HTTPRequest("GET", "http://relay.example.com/echo")
      request.connectTo = server.url.replacing("http://", with: "")
      let answer = try await HTTPClient().send(request)
      #expect(answer.text == "GET /echo [accept,host] none ")
      // A request without `connectTo` goes to the address in its URL.
      let own = try await HTTPClient().send(HTTPRequest("GET", "\(server.url)/echo"))
      #expect(own.status == 200)
    }
  }

  @Test(
    arguments: [
      ("Wed, 21 Oct 2015 07:28:00 GMT", 1_445_412_480), ("soon", nil), (nil, nil),
    ] as [(String?, Int64?)])
  func `an answer's date is the server's clock`(field: String?, seconds: Int64?) {
    let headers = field.map { [(name: "date", value: $0)] } ?? []
    #expect(HTTPAnswer(status: 200, headers: headers, body: []).serverSeconds == seconds)
  }

  @Test func `any HTTP status is returned as an answer`() async throws {
    try await EchoServer.overTCP { server in
      let answer = try await HTTPClient().send(HTTPRequest("GET", "\(server.url)/503"))
      #expect(answer.status == 503 && !answer.isSuccess)
    }
  }

  @Test(
    arguments: [
      ("7", 7), ("0", 0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("-1", nil), ("+7", nil),
      ("7 s", nil), ("soon", nil), ("", nil), ("99999999999999999999", nil), (nil, nil),
    ] as [(String?, Int64?)])
  func `Retry-After is a number of seconds or a date`(field: String?, seconds: Int64?) {
    let headers = field.map { [(name: "retry-after", value: $0)] } ?? []
    #expect(HTTPAnswer(status: 503, headers: headers, body: []).retryAfterSeconds == seconds)
  }

  @Test func `a date in Retry-After is converted to seconds from now`() throws {
    let date = Date(timeIntervalSinceNow: 90).formatted(
      Date.VerbatimFormatStyle(
        format: """
          \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \
          \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
          \(second: .twoDigits) GMT
          """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt,
        calendar: Calendar(identifier: .gregorian)))
    let answer = HTTPAnswer(status: 503, headers: [("retry-after", date)], body: [])
    let seconds = try #require(answer.retryAfterSeconds, "\(date)")
    #expect(85...90 ~= seconds)
  }

  @Test func `a reused connection sends no header of the previous request`() async throws {
    try await EchoServer.overTCP { server in
      let client = HTTPClient()
      var post = HTTPRequest("POST", "\(server.url)/echo", headers: [("X-One", "1")])
      post.body = Array("body".utf8)
      _ = try await client.send(post)
      let answer = try await client.send(HTTPRequest("GET", "\(server.url)/echo"))
      #expect(answer.text == "GET /echo [accept,host] none ")
      #expect(server.connections.current == 1)
    }
  }

  @Test func `many requests at once are all answered`() async throws {
    try await EchoServer.overTCP { server in
      let client = HTTPClient()
      let url = server.url
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<(HTTPClient.exchangesMax * 3) {
          group.addTask {
            try await client.send(HTTPRequest("GET", "\(url)/\(index)")).status
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count == HTTPClient.exchangesMax * 3 && statuses.allSatisfy { $0 == 200 })
      #expect(server.connections.current <= HTTPClient.exchangesMax)
    }
  }

  @Test func `a timeout and a lost connection have different error codes`()
    async throws
  {
    try await EchoServer.overTCP { server in
      let client = HTTPClient()
      let late = HTTPRequest("GET", "\(server.url)/never", timeout: .milliseconds(200))
      #expect(await failure(client, late)?.code == .timeout)
      let lost = await failure(client, HTTPRequest("GET", "\(server.url)/hangup"))
      #expect(lost?.code == .connectionLost)
    }
  }

  @Test func `a cancelled request returns long before its timeout`() async throws {
    try await EchoServer.overTCP { server in
      let request = HTTPRequest("GET", "\(server.url)/never", timeout: .seconds(60))
      let start = ContinuousClock.now
      let code = await withTaskGroup(of: ClientError.Code?.self) { group in
        group.addTask { await failure(HTTPClient(), request)?.code }
        group.cancelAll()
        return await group.next() ?? nil
      }
      #expect(code == .cancelled)
      #expect(ContinuousClock.now - start < .seconds(10))
    }
  }

  @Test func `a refused connection and a bad request have their own error codes`() async throws {
    let client = HTTPClient()
    var port = ""
    try await EchoServer.overTCP { port = $0.url }
    let refused = await failure(client, HTTPRequest("GET", port))
    #expect(refused?.code == .refused)
    #expect(refused?.message == "no program listens on \(port)")
    let bad = await failure(client, HTTPRequest("GET", "ftp://127.0.0.1/"))
    #expect(bad?.code == .badRequest)
    let smuggled = HTTPRequest("GET", port, headers: [("X", "1\r\nY: 2")])
    #expect(await failure(client, smuggled)?.code == .badRequest)
  }

  /// Logs and `status` show failures. An address's path may be as secret as its query.
  @Test func `failures name only the scheme, host and port of an address`() async throws {
    func texts(_ url: String, timeout: Duration = .seconds(5)) async -> String {
      await failure(HTTPClient(), HTTPRequest("GET", url, timeout: timeout))?.description ?? ""
    }
    var port = ""
    try await EchoServer.overTCP { server in
      port = server.url
      let late = await texts("\(server.url)/never#hidden", timeout: .milliseconds(200))
      #expect(late.hasPrefix("no answer from \(server.url) within ") && !late.contains("never"))
      let lost = await texts("\(server.url)/hangup#hidden")
      #expect(lost.contains("connection to \(server.url) ended") && !lost.contains("hidden"))
    }
    let secret = port.replacing("http://", with: "http://hidden:hidden@") + "/hidden?hidden#hidden"
    #expect(await texts(secret).hasPrefix("no program listens on \(port);"))
    #expect(await texts("FTP://Host:21/hidden").hasPrefix("ftp://host:21 is no address"))
    for bad in ["http://h\r\nX: hidden/", "http://ho st/hidden?hidden"] {
      let text = await texts(bad)
      #expect(!text.isEmpty && !text.contains("hidden"), "\(bad): \(text)")
    }
  }

  @Test func `an answer longer than the limit is refused`() async throws {
    try await EchoServer.overTCP { server in
      let client = HTTPClient(answerBytesMax: 100)
      let fits = HTTPRequest("GET", "\(server.url)/echo")
      let short = try await client.send(fits)
      #expect(short.status == 200)
      var long = HTTPRequest("POST", "\(server.url)/echo")
      long.body = Array(repeating: UInt8(ascii: "a"), count: 100)
      let refused = await failure(client, long)
      #expect(refused?.code == .answerTooLarge)
      #expect(refused?.message.contains("longer than 100 bytes") == true)
    }
  }
}

/// The control socket: HTTP over a Unix socket.
@Suite struct ControlClientTests {
  @Test func `the control client sends GET and POST requests over the socket`() async throws {
    try await EchoServer.overSocket { _, path in
      let control = ControlClient(socket: path)
      #expect(try await control.get("/status?a=b").text == "GET /status?a=b [accept,host] none ")
      let answer = try await control.post("/drain", Array("{}".utf8))
      #expect(answer.text.hasPrefix("POST /drain") && answer.text.hasSuffix("json {}"))
    }
  }

  @Test func `a missing, stale or too long socket path has its own error`() async throws {
    func failure(_ path: String) async -> ClientError? {
      do throws(ClientError) {
        _ = try await ControlClient(socket: path).get("/status")
        return nil
      } catch {
        return error
      }
    }
    let missing = await failure("/tmp/zonerelay-none.sock")
    #expect(missing?.code == .noSocket)
    #expect(missing?.message == "the socket /tmp/zonerelay-none.sock does not exist")
    #expect(await failure("/" + String(repeating: "a", count: 107))?.code == .badRequest)
    // A socket file whose server has ended.
    let stale = "/tmp/zonerelay-stale-\(UUID().uuidString).sock"
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: stale.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    #expect(bound == 0)
    close(descriptor)
    #expect(await failure(stale)?.code == .refused)
    #expect(unlink(stale) == 0)
  }
}
