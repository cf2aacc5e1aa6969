import Foundation
import NIOCore

/// Users with one device each, which only the courier can reach. All users subscribe to one public
/// record type.
struct CourierScene {
  private let bench: Workbench
  private let daemon: MeasuredDaemon
  private let devices: Int
  /// The number of concurrent callers: enough for registrations to share the folds that they wait
  /// for.
  private static let callers = 256

  init(_ bench: Workbench, daemon: MeasuredDaemon, devices: Int) {
    self.bench = bench
    self.daemon = daemon
    self.devices = devices
  }

  /// - Returns: the courier address of each device, without its host.
  func prepare() async throws -> [String] {
    let callers = (0..<Self.callers).map { first in
      Newcomer(users: Array(stride(from: first, to: devices, by: Self.callers)))
    }
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
    try await exchange.run(within: .minutes(10))
    return callers.flatMap(\.paths)
  }

  /// Posts one public change that matches all subscriptions.
  func change(_ number: Int) async throws {
    let event = #"""
      [{"specversion":"1.0","id":"all-\#(number)","source":"/bench",
      "type":"zonerelay.record.created",
      "data":{"database":"public","record":{"recordName":"A\#(number)","recordType":"Article"}}}]
      """#
    let answer = try await LoadExchange.call(
      RequestText.post(
        "/events/1/\(MeasuredDaemon.scope)", token: MeasuredDaemon.producerKey,
        type: "application/cloudevents-batch+json", body: event.utf8),
      to: .port(daemon.port), group: bench.group)
    try answer.expectAccepted(1)
  }
}

/// Creates devices and subscriptions for one user after another.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the paths are read
/// after the run.
final class Newcomer: LoadCaller, @unchecked Sendable {
  private var users: [Int]
  private var token = ""
  private var isCreated = false
  private(set) var paths: [String] = []

  init(users: [Int]) { self.users = users }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
        throw BenchError("a device was refused, \(answer.status): \(answer.text.prefix(500))")
      }
      if isCreated {
        guard let url = answer.string(after: #""webcourierURL":""#),
          let place = url.range(of: "/courier/")
        else { throw BenchError("no courier address: \(answer.text.prefix(500))") }
        paths.append(String(url[place.lowerBound...]))
        isCreated = false
        return .send(subscribe)
      }
    }
    guard let user = users.popLast() else { return .done }
    token = MeasuredDaemon.userToken("_user\(user)")
    isCreated = true
    return .send(
      RequestText.post(
        "/device/1/\(MeasuredDaemon.scope)/tokens/create", token: token,
        body: #"{"apnsEnvironment":"development"}"#.utf8))
  }

  private var subscribe: ByteBuffer {
    RequestText.post(
      "/database/1/\(MeasuredDaemon.scope)/public/subscriptions/modify", token: token,
      body: (#"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all","#
        + #""subscriptionType":"query","query":{"recordType":"Article"},"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#).utf8)
  }
}
