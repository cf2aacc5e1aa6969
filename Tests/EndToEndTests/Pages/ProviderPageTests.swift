import Foundation
import Testing
import ZoneRelayClient
import ZoneRelayTesting

/// The pages for people who come from gorush and from a library for APNs.
@Suite(.serialized) struct ProviderPageTests {
  @Test(arguments: ["docs/from-gorush.md", "docs/from-apns-library.md"])
  func `the page's blocks run against the relay of the quick start`(path: String) async throws {
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    try await PageRun.run(try Page(path), in: shell.workplace, before: shell.variables)
    #expect(await shell.stop() == 0)
  }

  @Test func `a device registers as the page shows, and is pushed to`() async throws {
    try PageRun.compareSamples(of: try Page("docs/from-apns-library.md"))
    let shell = try await QuickStartShell.start()
    defer { shell.workplace.remove() }
    let token = UserJWT.make(user: "_alice", secret: shell.workplace.userSecret)
    let client = try ZoneRelayClient(
      shell.address, state: StateInMemory(), sink: InMemoryCopy(),
      credentials: { _ in UserToken(jwt: token) })
    try await AppDevice.registered(Data(repeating: 0xab, count: 32), isDebugBuild: true, client)
    try await shell.report(
      "record.created", in: ZoneID(name: "ReadingList", owner: "_alice"),
      ["record": ["recordName": "A1", "recordType": "Article"]])
    let pushes = shell.workplace.file("apns/pushes.jsonl")
    let isPushed = try await Pause.until {
      try JSON.lines(of: pushes).contains {
        $0["path"].string?.hasSuffix(String(repeating: "ab", count: 32)) == true
      }
    }
    #expect(isPushed)
    #expect(await shell.stop() == 0)
  }

  /// Fields of a request to gorush, and settings of gorush. The page needs a row for each.
  @Test func `the page has each field of a gorush notification`() throws {
    let text = try String(
      contentsOf: Page.root.appendingPathComponent("docs/from-gorush.md"), encoding: .utf8)
    for name in [
      "tokens", "platform", "topic", "title", "message", "badge", "sound", "category",
      "mutable_content", "content_available", "data", "collapse_id", "collapse_key", "priority",
      "push_type", "expiration", "apns_id", "notif_id", "retry", "feedback_hook_url", "/metrics",
      "/api/stat/app",
    ] { #expect(text.contains("`\(name)"), "\(name)") }
  }
}
