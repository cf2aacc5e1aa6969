import Foundation
import ZoneRelayClient

/// One device on the command line: a client of the library, with a copy of the zones.
struct CommandLinePhone: Sendable {
  private let number: Int
  private let client: ZoneRelayClient
  private let tokens: PhoneTokens
  private let zones: [String]
  private let talk: PhoneTalk
  private let isKept: Bool

  /// - Parameters:
  ///   - directory: where the tokens and the copy are kept; nil means in memory.
  ///   - zones: names of the user's own zones to subscribe to; an empty list means all zones.
  init(
    number: Int, address: RelayAddress, transport: any RelayTransport, tokens: PhoneTokens,
    directory: String?, zones: [String], talk: PhoneTalk
  ) throws {
    let copy = try PhoneCopy(directory: directory, number: number, talk: talk)
    let store: any StateStore =
      directory.map { StateFile(URL(fileURLWithPath: $0).appendingPathComponent("state.json")) }
      ?? ForgetfulStore()
    self.number = number
    self.tokens = tokens
    self.zones = zones
    self.talk = talk
    isKept = directory != nil
    do {
      client = try ZoneRelayClient(
        address, state: store, sink: copy, transport: transport,
        credentials: { _ in try await tokens.token() })
    } catch let error as RelayError {
      throw Failure(
        .failed, "--state: \(error)",
        hint: "name another directory, or remove this one: the phone then begins anew")
    }
  }

  /// Runs until the task is cancelled.
  func run() async throws {
    try await begin()
    try await withThrowingDiscardingTaskGroup { group in
      for try await wake in client.wakes() {
        await talk.tell(
          PhoneEvent(
            event: "wake", phone: number, wake: wake.number, zones: wake.zones.map(\.id)))
        let until = try await fetch { try await client.handle(wake) }
        guard let until else { continue }
        group.addTask { try await fetchWaiting(from: until) }
      }
    }
  }

  /// Fetches the zones that must wait, each when its time has come.
  private func fetchWaiting(from first: Date) async throws {
    var next: Date? = first
    while let time = next {
      try await Task.sleep(for: .seconds(max(0, time.timeIntervalSinceNow)))
      next = try await fetch { try await client.fetchAllChanges(.notifications) }
    }
  }

  /// Signs out, so that the relay unregisters the phone, unless the state of the phone is kept for
  /// the next run.
  func end() async {
    guard !isKept else { return }
    do { try await client.signOut() } catch { await tell(error) }
  }

  /// Registers, subscribes, and fetches everything once.
  func begin() async throws {
    let user = try await tokens.token().user
    try await persist { try await client.register(.courier) }
    let subscriptions = zones.map { name in
      Subscription.zone("phone-\(name)", ZoneID(name: name, owner: user))
    }
    let wanted =
      subscriptions.isEmpty
      ? [.database("phone-private", .private), .database("phone-shared", .shared)] : subscriptions
    let errors = try await persist {
      let errors = try await client.prepare(wanted).compactMap(\.error)
      if let passing = errors.first(where: \.isPassing) { throw passing }
      return errors
    }
    // A duplicate is no failure: the equal subscription, which the user has already, wakes the
    // user's devices.
    if let error = errors.first(where: { !$0.message.contains("is duplicate of") }) {
      throw Failure(.failed, "\(error)", hint: "correct --zone")
    }
    let id = client.installation.uuidString.lowercased()
    await talk.tell(PhoneEvent(event: "registered", phone: number, clientId: id, user: user))
    try await fetch { try await client.fetchAllChanges() }
  }

  /// - Returns: the time from which the zones that must wait may be fetched; nil if no zone must
  ///   wait.
  @discardableResult
  private func fetch(_ round: () async throws -> FetchReport) async throws -> Date? {
    let report = try await persist(round)
    await talk.tell(
      PhoneEvent(
        event: "fetched", phone: number, zones: report.zones.sorted(), pages: report.pages,
        records: report.records, seconds: report.deferredUntil.map(\.timeIntervalSinceNow)))
    for (_, error) in report.failures.sorted(by: { $0.key < $1.key }) { await tell(error) }
    return report.deferredUntil
  }

  /// Repeats a call while the relay is unreachable or busy, or while the answer is not a relay's
  /// answer. Other errors are thrown. The client itself waits between its requests.
  private func persist<Value>(_ call: () async throws -> Value) async throws -> Value {
    while true {
      do {
        return try await call()
      } catch let error as RelayError where error.isPassing {
        await tell(error)
      }
    }
  }

  private func tell(_ error: any Error) async {
    let wait = (error as? RelayError)?.retryAfter
    await talk.tell(
      PhoneEvent(
        event: "failed", phone: number, why: "\(error)",
        seconds: wait.map { ($0 / .milliseconds(100)).rounded() / 10 }))
  }
}

/// The state of a phone that begins anew each time.
private struct ForgetfulStore: StateStore {
  func load() throws -> Data? { nil }
  func save(_ state: Data) throws {}
}
