import NIOCore

/// The well-behaved users with a device and a subscription each, before anything is measured; and
/// 300 subscribers of the public database, whom a hostile producer's changes concern.
struct AbuseScene {
  private let bench: Workbench
  private let daemon: Daemon
  private static let subscribers = 300

  init(_ bench: Workbench, daemon: Daemon) {
    self.bench = bench
    self.daemon = daemon
  }

  func prepare() async throws {
    for number in 0..<GoodUser.count {
      let token = Daemon.userToken(GoodUser.name(number))
      let digits = String(100_000_000_000 + number)
      try await post(
        "/device/1/\(Daemon.scope)/tokens/register", token,
        #"{"apnsEnvironment":"development","apnsToken":"\#(digits)\#(digits)","#
          + #""clientId":"6f1c2a34-0000-4000-8000-\#(digits)"}"#)
      try await subscribe(token, "private", #""subscriptionType":"database""#)
    }
    for number in 0..<Self.subscribers {
      let filter = #""filterBy":[{"comparator":"NOT_EQUALS","fieldName":"title","#
      try await subscribe(
        Daemon.userToken("_reader\(number)"), "public",
        #""subscriptionType":"query","query":{"recordType":"Article",\#(filter)"#
          + #""fieldValue":{"value":"nothing","type":"STRING"}}]}"#)
    }
  }

  private func subscribe(_ token: String, _ database: String, _ what: String) async throws {
    try await post(
      "/database/1/\(Daemon.scope)/\(database)/subscriptions/modify", token,
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\#(what),"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#)
  }

  private func post(_ path: String, _ token: String, _ body: String) async throws {
    let answer = try await Exchange.call(
      RequestText.post(path, token: token, body: body.utf8), to: .port(daemon.port),
      group: bench.group)
    guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
      throw Trouble("\(path) was answered with \(answer.status): \(answer.text.prefix(500))")
    }
  }
}
