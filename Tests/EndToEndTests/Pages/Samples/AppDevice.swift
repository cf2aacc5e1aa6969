import Foundation
import ZoneRelayClient

// docs/from-apns-library.md shows the code between the sample comments below.

enum AppDevice {
  // The pages show the lines from here as their sample "device".
  /// Call this in `didRegisterForRemoteNotificationsWithDeviceToken`, at each launch.
  static func registered(
    _ token: Data, isDebugBuild: Bool, _ client: ZoneRelayClient
  ) async throws {
    let reading = ZoneID(name: "ReadingList", owner: "_alice")
    _ = try await client.prepare([.zone("reading", reading)])
    try await client.register(
      .apns(token, topic: "com.example.notes", sandbox: isDebugBuild))
  }
  // The sample ends here.
}
