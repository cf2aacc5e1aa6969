package import RelayCore

/// The courier as the engine sees it: polls and streams that devices keep open.
///
/// Calls come from the loop and must not block.
package protocol CourierConnections: Sendable {
  /// Writes a wake to the device's poll or stream. Answers once and always, within the time that a
  /// reader has: `.delivered` once it is written, `.later(after: nil, .attempt, …)` if nobody is
  /// there or nobody reads. A poll ends with it.
  ///
  /// - Parameter payload: the push dictionary, JSON.
  func tell(
    _ device: DeviceKey, wake: UInt32, payload: [UInt8],
    answer: @escaping @Sendable (Verdict) -> Void)

  /// The device is registered no more: whatever it has open ends.
  func hangUp(_ device: DeviceKey)

  /// Polls and streams open now.
  var count: Int { get }
}
