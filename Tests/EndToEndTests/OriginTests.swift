import Foundation
import RelayCurl
import Testing

/// A browser's requests from the configured origins of web pages.
@Suite(.serialized) struct OriginTests {
  private static let app = "https://app.example.com"
  private static let other = "https://other.example.com"
  private static let path = "/device/1/\(Workplace.container)/development/tokens/list"

  private static func ask(
    _ daemon: RunningDaemon, _ method: String, from origin: String, token: String? = nil
  ) async throws -> HTTPAnswer {
    var headers = [
      (name: "Origin", value: origin), (name: "Access-Control-Request-Method", value: "POST"),
    ]
    if let token { headers.append((name: "Authorization", value: "Bearer \(token)")) }
    return try await daemon.web.client.send(
      HTTPRequest(method, daemon.web.base + path, headers: headers, timeout: .seconds(30)))
  }

  @Test func `CORS allows a listed origin until a reload removes it`() async throws {
    let (workplace, _) = try await Workplace.withStandin(environment: "origins: [\"\(Self.app)\"]")
    defer { workplace.remove() }
    let daemon = try await RunningDaemon.start(in: workplace)
    let token = UserJWT.make(user: "_abc", secret: workplace.userSecret)
    let preflight = try await Self.ask(daemon, "OPTIONS", from: Self.app)
    #expect(preflight.status == 204)
    #expect(preflight.header("access-control-allow-origin") == Self.app)
    #expect(preflight.header("access-control-allow-methods") == "GET, POST")
    #expect(try await Self.ask(daemon, "OPTIONS", from: Self.other).status == 403)
    let answer = try await Self.ask(daemon, "GET", from: Self.app, token: token)
    #expect(answer.status == 200)
    #expect(answer.header("access-control-allow-origin") == Self.app)
    #expect(answer.header("vary") == "Origin")

    try workplace.reconfigure((old: Self.app, new: Self.other))
    daemon.program.signal(SIGHUP)
    #expect(
      try await Pause.until {
        try await Self.ask(daemon, "OPTIONS", from: Self.other).status == 204
      })
    #expect(try await Self.ask(daemon, "OPTIONS", from: Self.app).status == 403)
    let hidden = try await Self.ask(daemon, "GET", from: Self.app, token: token)
    #expect(hidden.status == 200)
    #expect(hidden.header("access-control-allow-origin") == nil)
    #expect(await daemon.stop().status == 0)
  }
}
