public import ZoneRelayClient

/// An app's copy of its zones in memory, for tests: the change tag of each record, by zone and
/// name. It also keeps what the client has called: all pages of zones and all switches of the user,
/// and, since the last switch, the notification pages and the zones that the user does not have any
/// more (`losses`). A zone leaves `losses` when a page of it is applied.
public actor InMemoryCopy: ChangeSink {
  /// The change tags of the records of each zone, by name.
  public var zones: [ZoneID: [String: String]] { records.mapValues(\.tags) }
  public private(set) var pages: [ZonePage] = []
  /// Zones that are gone, with the reason.
  public private(set) var losses: [ZoneID: ZoneLoss] = [:]
  public private(set) var notificationPages: [NotificationPage] = []
  /// Each switch of the user, as `old > new`, such as `- > _alice` or `_alice > _bob`. `-` means
  /// that no user is signed in.
  public private(set) var accounts: [String] = []

  private var records: [ZoneID: ZoneRecords] = [:]
  private var hook: @Sendable (ZonePage) async throws -> Void = { _ in }
  private var isBusy = false

  public init() {}

  /// Sets a hook that runs before each page of a zone is applied. The hook may wait, or throw as an
  /// app's database does. A page that the hook refuses is kept in `pages` too.
  public func beforePage(_ hook: @escaping @Sendable (ZonePage) async throws -> Void) {
    self.hook = hook
  }

  public func apply(_ page: ZonePage) async throws {
    checkTurn()
    isBusy = true
    defer { isBusy = false }
    pages.append(page)
    try await hook(page)
    records[page.zone, default: ZoneRecords()].apply(page)
    losses[page.zone] = nil
  }

  public func remove(_ zone: ZoneID, _ why: ZoneLoss) async throws {
    checkTurn()
    records[zone] = nil
    losses[zone] = why
  }

  public func apply(_ page: NotificationPage) async throws {
    checkTurn()
    notificationPages.append(page)
  }

  public func accountChanged(from: String?, to: String?) async throws {
    checkTurn()
    accounts.append("\(from ?? "-") > \(to ?? "-")")
    (records, losses, notificationPages) = ([:], [:], [])
  }

  /// Checks that the client calls no method while another one still runs. Only the method that
  /// applies a zone's page can still run, because it waits for the test's hook; the other methods
  /// never wait.
  private func checkTurn() {
    precondition(!isBusy, "the client calls a sink's methods one at a time")
  }
}
