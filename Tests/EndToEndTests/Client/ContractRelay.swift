import Foundation
import ZoneRelayClient
import ZoneRelayTesting

/// A relay as a client and a record server see it: the daemon, or the relay in memory. Both relays
/// must keep the same contract.
protocol ContractRelay: Sendable {
  var address: RelayAddress { get }
  var transport: any RelayTransport { get }
  func token(for user: String) async throws -> UserToken
  func save(_ record: TestRecord, in zone: ZoneID, by installation: UUID?) async throws
  func delete(_ name: String, in zone: ZoneID) async throws
  func end(_ zone: ZoneID, _ loss: ZoneLoss) async throws
  func share(_ zone: ZoneID, with user: String, _ isShared: Bool) async throws
  func expireTokens() async throws
  func stop() async
}

extension InMemoryRelay: ContractRelay {
  nonisolated var transport: any RelayTransport { self }
  func delete(_ name: String, in zone: ZoneID) { delete(name, in: zone, by: nil) }
  func stop() {}
}

/// The built daemon, without any provider.
struct DaemonRelay: ContractRelay {
  let address: RelayAddress
  let transport: any RelayTransport = URLSessionTransport()
  private let daemon: RunningDaemon

  static func start() async throws -> DaemonRelay {
    let workplace = try Workplace()
    let standin = try await Standin.start(in: workplace)
    defer { standin.stop() }
    try workplace.configure(window: "0ms")
    let daemon = try await RunningDaemon.start(in: workplace)
    guard let url = URL(string: workplace.api) else { throw TestFailure("no URL") }
    return DaemonRelay(
      address: RelayAddress(url: url, container: Workplace.container, environment: .development),
      daemon: daemon)
  }

  private init(address: RelayAddress, daemon: RunningDaemon) {
    (self.address, self.daemon) = (address, daemon)
  }

  func token(for user: String) -> UserToken {
    UserToken(
      user: user, text: UserJWT.make(user: user, secret: daemon.workplace.userSecret))
  }

  func save(_ record: TestRecord, in zone: ZoneID, by installation: UUID?) async throws {
    var data: [String: Any] = [
      "record": [
        "recordName": record.name, "recordType": record.type, "recordChangeTag": record.changeTag,
      ]
    ]
    if let installation {
      data["changedBy"] = [
        "userRecordName": zone.owner, "clientId": installation.uuidString.lowercased(),
      ]
    }
    // The creation of a record that exists is an update.
    try await report("record.created", zone, data)
  }

  func delete(_ name: String, in zone: ZoneID) async throws {
    try await report("record.deleted", zone, ["record": ["recordName": name]])
  }

  func end(_ zone: ZoneID, _ loss: ZoneLoss) async throws { try await report("zone.\(loss)", zone) }

  func share(_ zone: ZoneID, with user: String, _ isShared: Bool) async throws {
    try await report(
      isShared ? "share.granted" : "share.revoked", zone, ["participant": user])
  }

  func expireTokens() async throws {
    let ended = try await Program.run(
      ["expire-tokens", "--control", daemon.workplace.controlSocket], in: daemon.workplace)
    guard ended.status == 0 else { throw TestFailure(ended.errors) }
  }

  func stop() async {
    _ = await daemon.stop()
    daemon.workplace.remove()
  }

  private func report(_ type: String, _ zone: ZoneID, _ more: [String: Any] = [:]) async throws {
    var data: [String: Any] = [
      "database": "private",
      "zoneID": ["zoneName": zone.name, "ownerRecordName": zone.owner],
    ]
    data.merge(more) { _, new in new }
    let event: [String: Any] = [
      "specversion": "1.0", "id": UUID().uuidString, "source": "/records/contract",
      "type": "zonerelay.\(type)", "data": data,
    ]
    let answer = try await Producer.send(
      Producer.encode([event]), to: daemon.web, key: daemon.workplace.producerKey)
    guard answer.status == 202 else { throw TestFailure("\(type): \(answer)") }
  }
}
