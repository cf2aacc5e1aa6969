import Foundation

/// Prints what happens to phones: each event of one phone, or sums for many phones.
actor PhoneTalk {
  private let console: Console
  private let json: Bool
  private let isFarm: Bool
  private var total = PhoneEvent(event: "total", wake: 0, pages: 0, records: 0, count: 0)
  private var failures = 0

  init(console: Console, json: Bool, isFarm: Bool) {
    (self.console, self.json, self.isFarm) = (console, json, isFarm)
  }

  func tell(_ event: PhoneEvent) {
    count(event)
    // Each line of JSON names its phone. For people, the lines of many phones would be too many.
    guard json || !isFarm else { return }
    show(event)
  }

  /// Returns when what is printed cannot be read any more.
  func untilClosed() async throws {
    while console.isOpen() { try await Task.sleep(for: .seconds(1)) }
  }

  /// Prints the sums of many phones.
  func showTotal() {
    guard isFarm else { return }
    var event = total
    if failures > 0 { event.why = "\(failures) failures" }
    show(event)
  }

  private func count(_ event: PhoneEvent) {
    switch event.event {
    case "registered": total.count? += 1
    case "wake": total.wake? += 1
    case "failed": failures += 1
    case "page":
      total.pages? += 1
      total.records? += (event.changed?.count ?? 0) + (event.deleted?.count ?? 0)
    default: break
    }
  }

  private func show(_ event: PhoneEvent) {
    if json {
      // The write cannot fail: an event holds only texts, numbers and flags, and lists and groups
      // of these.
      try? Renderer(format: .jsonLine, console: console).write(event)
      return
    }
    let time = HumanFormat.moment(Int64(Date().timeIntervalSince1970 * 1_000))
    for line in event.lines { console.answer(line: "\(time)  \(HumanFormat.line(line))") }
  }
}
