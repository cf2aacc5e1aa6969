import Foundation
import ZoneRelayClient

/// The shell and the directory in which the quick start leaves its reader, with a relay that runs.
struct QuickStartShell {
  let workplace: Workplace
  let daemon: RunningDaemon
  let phone = "6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11"

  static func start(
    extra: String = "", environment: String = ""
  ) async throws -> QuickStartShell {
    let (workplace, _) = try await Workplace.withStandin(
      window: "0ms", extra: extra, environment: environment)
    do {
      let files = FileManager.default
      try files.copyItem(at: workplace.file("user.secret"), to: workplace.file("users.secret"))
      try files.createSymbolicLink(
        at: workplace.file("standin"), withDestinationURL: workplace.file("apns"))
      return QuickStartShell(
        workplace: workplace, daemon: try await RunningDaemon.start(in: workplace))
    } catch {
      workplace.remove()
      throw error
    }
  }

  private init(workplace: Workplace, daemon: RunningDaemon) {
    (self.workplace, self.daemon) = (workplace, daemon)
  }

  /// The lines that set the quick start's variables.
  var variables: String {
    let token = UserJWT.make(user: "_alice", secret: workplace.userSecret)
    return """
      PATH="\(Program.binary.deletingLastPathComponent().path):$PATH"
      relay=\(workplace.api)
      app=\(Workplace.container)/development
      phone=\(phone)
      user="Authorization: Bearer \(token)"
      """
  }

  /// What `_alice` sees in a zone: the change tag of each record.
  func records(in zone: String) async throws -> [String: String] {
    var reader = Phone(
      daemon.web, user: "_alice", in: workplace, pushToken: String(repeating: "cd", count: 32))
    try await reader.catchUp(page: 200)
    return reader.zones[zone] ?? [:]
  }

  var address: RelayAddress {
    RelayAddress(
      // `api` is always a URL, so the directory is never used.
      url: URL(string: workplace.api) ?? workplace.directory, container: Workplace.container,
      environment: .development)
  }

  /// Reports a change, as the user's record server.
  func report(_ type: String, in zone: ZoneID, _ more: [String: Any] = [:]) async throws {
    var data: [String: Any] = [
      "database": "private",
      "zoneID": ["zoneName": zone.name, "ownerRecordName": zone.owner],
    ]
    data.merge(more) { $1 }
    let event: [String: Any] = [
      "specversion": "1.0", "id": UUID().uuidString, "source": "/records/test",
      "type": "zonerelay.\(type)", "data": data,
    ]
    let answer = try await Producer.send(
      Producer.encode([event]), to: daemon.web, key: workplace.producerKey)
    guard answer.status == 202 else { throw TestFailure("\(type): \(answer)") }
  }

  func stop() async -> Int32 { await daemon.stop().status }
}
