import Foundation
import NIOCore

/// Users with one device each, which only the courier can reach. All users subscribe to one public
/// record type.
struct CourierScene {
  let daemon: MeasuredDaemon
  let devices: Int

  /// - Returns: the courier address of each device, without its host.
  func prepare() async throws -> [String] {
    let urls = try await Enrolment.run(
      0..<devices, on: daemon, collecting: #""webcourierURL":""#
    ) { user in
      let token = Enrolment.token(user)
      return [
        RequestText.device(
          "tokens/create", token: token, #"{"apnsEnvironment":"development"}"#),
        Enrolment.subscription(toPublic: "Article", token: token),
      ]
    }
    let paths = urls.compactMap { url in
      url.range(of: "/courier/").map { String(url[$0.lowerBound...]) }
    }
    guard paths.count == devices else {
      throw BenchError("\(devices - paths.count) of \(devices) devices got no courier address")
    }
    return paths
  }

  /// Posts one public change that matches all subscriptions.
  func change(_ number: Int) async throws {
    let event = #"""
      [{"specversion":"1.0","id":"all-\#(number)","source":"/bench",
      "type":"zonerelay.record.created",
      "data":{"database":"public","record":{"recordName":"A\#(number)","recordType":"Article"}}}]
      """#
    try await daemon.call(RequestText.events(event.utf8)).expectAccepted(1)
  }
}
