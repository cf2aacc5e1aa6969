/// Finds the entries that a question is about, in two passes over what the flight recorder keeps.
/// The first pass finds the changes and devices, and the second pass collects the entries that
/// concern them. The memory of the search is bounded, however long the history is.
package struct TraceSearch: Sendable {
  /// What an operator asks.
  package struct Question: Sendable {
    /// The names of the changes; `nil` means that a record, a zone or a device is asked about.
    package var changes: Set<Identifier>?
    package var zone: Zone?
    package var record: String?
    /// The installation; `nil` means all devices that a change concerns.
    package var client: ClientID?
    package var container: String?
    package var environment: Environment?
    /// How many of the newest changes are explained.
    package var last = 10

    package init() {}

    /// A zone by its name, and its owner if the operator names one.
    package struct Zone: Sendable {
      package var name: String
      package var owner: UserID?

      package init(name: String, owner: UserID?) { (self.name, self.owner) = (name, owner) }

      /// A zone as `OWNER/NAME`, or as `NAME` of any owner. The text is split by Unicode scalars,
      /// because a name may begin with a mark that Swift joins with the slash into one character.
      ///
      /// - Returns: nil if the name or a named owner is empty.
      package init?(text: String) {
        let parts = text.unicodeScalars.split(
          separator: "/", maxSplits: 1, omittingEmptySubsequences: false
        ).map { String($0) }
        guard let name = parts.last, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        self.init(name: name, owner: parts.count > 1 ? UserID(parts[0]) : nil)
      }

      func means(_ zone: ZoneID) -> Bool {
        ByteOrdered.areSame(name, zone.name) && owner.map { $0 == zone.owner } ?? true
      }
    }

    package func means(_ scope: Scope) -> Bool {
      container.map { ByteOrdered.areSame($0, scope.container) } ?? true
        && environment.map { $0 == scope.environment } ?? true
    }
  }

  /// The most devices for which one change is explained.
  package static let devicesMax = 100
  /// The most entries that the second pass collects.
  package static let entriesMax = 50_000

  /// How many entries and deliveries may be examined for all explanations of one answer. The
  /// explanation that reaches this number is the last one.
  package static let stepsMax = 20_000_000
  /// How many deliveries and entries the explanations of one answer may list together. The
  /// explanation that reaches this number is the last one.
  package static let linesMax = 50_000

  package let question: Question
  /// The changes to explain, oldest first.
  package private(set) var found: [Identifier] = []
  /// Whether older changes were left out.
  package private(set) var hasMore = false
  /// When the oldest kept entry was made.
  package private(set) var since: Instant?
  /// The number of places in the trace where entries are missing.
  package private(set) var gaps = 0
  private var devicesOf: [Identifier: [DeviceKey]] = [:]
  private var zoneOf: [Identifier: ZoneID] = [:]
  private var left: [Identifier: Int] = [:]
  /// The registrations of the installation that is asked about.
  package private(set) var known: Set<DeviceKey>

  package private(set) var entries: [TraceEntry] = []
  /// Whether more entries concern the question than are collected.
  package private(set) var isTooLarge = false
  private var isCollecting = false
  private var users: Set<Users.Key> = []
  private var keys: Set<DeviceKey> = []
  private var scopes: Set<Scope> = []

  /// - Parameter known: the present registrations of the installation that is asked about.
  package init(_ question: Question, known: [DeviceKey]) {
    self.question = question
    self.known = Set(known)
  }

  // MARK: The first pass

  package mutating func find(_ entry: TraceEntry) {
    switch entry.event {
    case .change(let change):
      since = since ?? entry.at
      if isMeant(change) { found(change.notification, in: change.zone) }
    case .matched(let match):
      since = since ?? entry.at
      find(match)
    case .device(let key, _):
      since = since ?? entry.at
      if key.client == question.client, question.means(key.scope) { known.insert(key) }
    case .lost: gaps += 1
    case .began, .moved, .user, .route: since = since ?? (entry.at > .zero ? entry.at : nil)
    }
  }

  /// Whether the question asks about this change, by its id or zone, and not by a device alone.
  private func isMeant(_ change: TracedChange) -> Bool {
    if let changes = question.changes { return changes.contains(change.notification) }
    guard let zone = question.zone, zone.means(change.zone), question.means(change.scope) else {
      return false
    }
    // Other users' zones may have the same name. Changes of zones that are shared with the device's
    // user are found by the subscriptions that fired.
    if zone.owner == nil, question.client != nil,
      !known.contains(where: { $0.scope == change.scope && $0.user == change.zone.owner })
    {
      return false
    }
    guard let record = question.record else { return true }
    guard case .record(let changed) = change.event else { return false }
    return ByteOrdered.areSame(changed.name, record)
  }

  private mutating func find(_ match: TracedMatch) {
    let devices = match.devices.map {
      DeviceKey(scope: match.user.scope, user: match.user.user, client: $0.client)
    }
    // A question that names a device, and perhaps a zone without its owner, is about the changes
    // that concern the device.
    if question.changes == nil, question.record == nil,
      question.zone.map({ $0.owner == nil && $0.means(match.zone) }) ?? true,
      devices.contains(where: { known.contains($0) || $0.client == question.client }),
      question.means(match.user.scope)
    {
      found(match.notification, in: match.zone)
    }
    guard question.client == nil, found.contains(match.notification) else { return }
    for device in devices { concerns(device, match.notification) }
  }

  private mutating func concerns(_ device: DeviceKey, _ change: Identifier) {
    let all = devicesOf[change] ?? []
    guard !all.contains(device) else { return }
    if all.count < Self.devicesMax {
      devicesOf[change, default: []].append(device)
    } else {
      left[change, default: 0] += 1
    }
  }

  private mutating func found(_ change: Identifier, in zone: ZoneID) {
    if found.last == change { return }
    if let place = found.firstIndex(of: change) { found.remove(at: place) }
    found.append(change)
    zoneOf[change] = zone
    guard found.count > question.last else { return }
    hasMore = true
    let oldest = found.removeFirst()
    (devicesOf[oldest], left[oldest], zoneOf[oldest]) = (nil, nil, nil)
  }

  /// The devices for which a change is explained.
  package func devices(of change: Identifier) -> [DeviceKey] {
    question.client == nil ? devicesOf[change] ?? [] : known.sorted()
  }

  /// The newest entry of a change.
  package func change(named name: Identifier) -> TraceEntry? {
    entries.last {
      if case .change(let change) = $0.event { change.notification == name } else { false }
    }
  }

  /// How many devices the change concerns beyond the first `devicesMax`, which `devices(of:)`
  /// gives. A device beyond them counts once for each match that has it.
  package func devicesLeft(of change: Identifier) -> Int { left[change] ?? 0 }

  /// The zones of the changes.
  package var zones: [ZoneID] { Set(zoneOf.values).sorted() }

  /// All devices for which something is explained, at most `devicesMax`.
  package var allDevices: [DeviceKey] {
    let all = found.reduce(into: known) { $0.formUnion(devices(of: $1)) }
    return Array(all.sorted().prefix(Self.devicesMax))
  }

  // MARK: The second pass

  package mutating func collect(_ entry: TraceEntry) {
    if !isCollecting {
      guard case .change(let change) = entry.event, found.contains(change.notification) else {
        return
      }
      isCollecting = true
      keys = Set(allDevices)
      users = Set(keys.map { Users.Key(scope: $0.scope, user: $0.user) })
      scopes = Set(keys.map(\.scope))
    }
    let isWanted =
      switch entry.event {
      case .began, .lost: true
      case .change(let change): found.contains(change.notification)
      case .moved(let move): found.contains(move.notification)
      case .matched(let match): users.contains(match.user)
      case .device(let key, _): keys.contains(key)
      case .user(let user, _): users.contains(user)
      case .route(let route, _): scopes.contains(route.scope)
      }
    guard isWanted else { return }
    if entries.count < Self.entriesMax { entries.append(entry) } else { isTooLarge = true }
  }
}
