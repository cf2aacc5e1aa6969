package import RelayCore

/// The courier as the engine sees it: polls and streams that devices keep open.
///
/// Calls come from the loop and must not block.
package protocol CourierConnections: Sendable {
  /// Writes a wake to the device's poll or stream. Calls `answer` exactly once, within the time
  /// that the client has to read the wake: with `.delivered` once the wake is written, or with
  /// `.later(after: nil, .attempt, …)` if no connection is open or its client does not read. A poll
  /// ends with the wake.
  ///
  /// - Parameter payload: the push dictionary as JSON.
  func tell(
    _ device: DeviceKey, wake: UInt32, payload: [UInt8],
    answer: @escaping @Sendable (Verdict) -> Void)

  /// Closes the device's connections, because the device is no longer registered.
  func hangUp(_ device: DeviceKey)

  /// How many polls and streams are open now.
  var count: Int { get }
}
