import Foundation
import Testing

/// docs/quick-start.md, as a reader types it. The other pages with code begin where the quick start
/// ends.
@Suite struct QuickStartPageTests {
  @Test func `the quick start leads to a push, a page and a clean stop`() async throws {
    let workplace = try Workplace()
    defer { workplace.remove() }
    // A reader sees when a program is ready before typing on; the script has to wait instead.
    let waits = [
      (
        "standin --listen 127.0.0.1:8443 --directory standin &",
        "standin --listen 127.0.0.1:8443 --directory standin > standin.log &\n"
          + "until grep -q ready standin.log; do sleep 0.1; done"
      ),
      (
        "zonerelay serve -c zonerelay.yaml &",
        "zonerelay serve -c zonerelay.yaml > serve.log 2>&1 &\n"
          + "until curl -sf http://127.0.0.1:8460/health/ready > ready.txt; do sleep 0.1; done"
      ),
      (
        "tail -1 standin/pushes.jsonl",
        "until [ -s standin/pushes.jsonl ]; do sleep 0.1; done\ntail -1 standin/pushes.jsonl"
      ),
    ]
    let page = try Page("docs/quick-start.md")
    for (text, _) in waits {
      #expect(page.blocks.contains { $0.text.contains(text) }, "the page has no \(text)")
    }
    let run = try await PageRun.run(
      page, in: workplace,
      before: """
        PATH="\(Program.binary.deletingLastPathComponent().path):$PATH"
        trap 'kill $(jobs -p) 2>jobs.txt || true; wait' EXIT
        """,
      replacing: waits + [
        ("make demo ", "true "), ("127.0.0.1:8443", "127.0.0.1:\(workplace.standinPort)"),
        ("127.0.0.1:8460", "127.0.0.1:\(workplace.apiPort)"),
        ("zonerelay phone run", "zonerelay phone run --relay \(workplace.api)"),
      ])
    for text in [
      #""accepted":1"#, #""apns-push-type":"background""#,
      #""recordName":"A1","recordType":"Article","recordChangeTag":"1""#, "all is well", "healthy",
      "Article A1 changed, tag 1",
    ] { #expect(run.output.contains(text), "\(text) is not in \(run.output)") }
    let log = try String(contentsOf: workplace.file("try/serve.log"), encoding: .utf8)
    #expect(log.contains(#""message":"stopped""#), "\(log)")
  }
}
