import ArgumentParser
import RelayWire

struct FeedbackCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "feedback",
    abstract: "Shows what the app's own servers should know: devices retired, silent, returned.",
    discussion: """
      A device is retired when its provider calls its push token dead, silent when it answers none \
      of its wakes any more, and returned when a silent one gives a sign or either is registered \
      anew. The feed is the same that feedback.url is told by a webhook; reading it here takes \
      nothing away.

      Each item has a position that rises. Ask after the last one you have dealt with: while more \
      is coming a hint says where to go on; otherwise go on after the last position. If items were \
      trimmed before you came for them, you are told.

      Examples:
        zonerelay feedback
        zonerelay feedback --after 117 --limit 1000
        zonerelay feedback --container iCloud.com.example.notes --json | jq .clientId
        zonerelay feedback --follow --json

      With --json each line is an item; a line {"missedThrough":N,"type":"missed"} says that items \
      up to N are gone.
      """)

  @Option(
    name: [.long, .customLong("since")],
    help: ArgumentHelp("Only items after this position.", valueName: "position"))
  var after: UInt64 = 0

  @Option(help: ArgumentHelp("At most so many at a time, 1 to 1000.", valueName: "count"))
  var limit = 100

  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Print JSON lines, a documented contract: see docs/operations.md.")
  var json = false

  @Flag(help: "Go on and show what comes, until interrupted.")
  var follow = false

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard (1...1_000).contains(limit) else {
      throw ValidationError("--limit must be 1 to 1000")
    }
    try ScopeOptions.check(environment: scope.environment)
  }

  func perform(_ console: Console) async throws -> ExitStatus {
    let control = ControlLine(socket: try options.controlSocket())
    var place = after
    var isFirst = true
    while true {
      let query = [("after", "\(place)"), ("limit", "\(limit)")] + scope.query
      let report = try await control.get("/feedback", query, as: FeedbackReport.self)
      try show(report, isFirst: isFirst, console)
      place = report.next
      guard follow, console.isOpen() else {
        if report.moreComing { hint(place, console) }
        return .done
      }
      isFirst = isFirst && report.items.isEmpty
      if !report.moreComing { try await Task.sleep(for: .seconds(1)) }
    }
  }

  private func show(_ report: FeedbackReport, isFirst: Bool, _ console: Console) throws {
    let renderer = Renderer(format: json ? .jsonLine : .text, console: console)
    if let missed = report.missedThrough {
      if json { try renderer.write(FeedbackMissed(missedThrough: missed)) }
      console.talk(
        line: "zonerelay: items up to position \(missed) were trimmed; some of them may be missing")
    }
    if json {
      for item in report.items { try renderer.write(item) }
    } else if !report.items.isEmpty || (isFirst && !follow) {
      try renderer.show(FeedbackListing(items: report.items, hasHeading: isFirst))
    }
  }

  private func hint(_ place: UInt64, _ console: Console) {
    var words = "zonerelay feedback --after \(place)"
    if limit != 100 { words += " --limit \(limit)" }
    for case (let name, let value?) in scope.query { words += " --\(name) \(value)" }
    if json { words += " --json" }
    console.talk(line: "zonerelay: hint: there is more: \(words)")
  }
}
