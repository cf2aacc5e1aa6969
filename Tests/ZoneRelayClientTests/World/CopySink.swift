import ZoneRelayClient

/// An app's copy of its zones, and the calls that made it.
actor CopySink: ChangeSink {
  struct Refused: Error {}

  /// The tag of each record, by zone.
  private(set) var zones: [ZoneID: [String: String]] = [:]
  private(set) var pages: [ZonePage] = []
  private(set) var losses: [ZoneID: ZoneLoss] = [:]
  private(set) var notifications: [NotificationPage.Notification] = []
  private(set) var notificationPages: [NotificationPage] = []
  private(set) var accounts: [String] = []
  /// Names that the pages of a zone that is read anew have shown so far.
  private var frames: [ZoneID: Set<String>] = [:]
  private var refusals: [Int] = []
  private var gate: (@Sendable () async -> Void)?
  private var isBusy = false

  /// The calls with these numbers, counted from 1 and over zone pages, fail.
  func refuse(pages: Int...) { refusals = pages }

  /// Each page waits for this before it is applied.
  func wait(_ gate: @escaping @Sendable () async -> Void) { self.gate = gate }

  func apply(_ page: ZonePage) async throws {
    precondition(!isBusy, "the client calls the sink one at a time")
    isBusy = true
    defer { isBusy = false }
    await gate?()
    pages.append(page)
    if refusals.contains(pages.count) { throw Refused() }
    if page.startsOver { frames[page.zone] = [] }
    var zone = zones[page.zone] ?? [:]
    for record in page.deleted { zone[record.name] = nil }
    for record in page.changed { zone[record.name] = record.changeTag ?? "" }
    frames[page.zone]?.formUnion(page.changed.map(\.name))
    if page.isLast, let named = frames.removeValue(forKey: page.zone) {
      zone = zone.filter { named.contains($0.key) }
    }
    zones[page.zone] = zone
    losses[page.zone] = nil
  }

  func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws {
    precondition(!isBusy, "the client calls the sink one at a time")
    zones[zone] = nil
    frames[zone] = nil
    losses[zone] = why
  }

  func apply(_ page: NotificationPage) async throws {
    notificationPages.append(page)
    notifications += page.notifications
  }

  func accountChanged(from: String?, to: String?) async throws {
    precondition(!isBusy, "the client calls the sink one at a time")
    accounts.append("\(from ?? "-") > \(to ?? "-")")
    (zones, frames, notifications, losses) = ([:], [:], [], [:])
  }
}
