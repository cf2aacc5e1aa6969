/// A lane that may be woken now and waits in the queue of its route.
package struct ReadyLane: Hashable, Sendable {
  package var partition: PartitionID
  package var device: Int
  package var route: RouteKey
  package var isAlert: Bool
  /// The partition's number for the device's user; 0 over the courier, where users have no shares.
  package var user = 0
  /// Whether the lane's last attempt failed. Such lanes wait apart from lanes with fresh work.
  package var isRetry = false

  var isOverCourier: Bool { route.transport == .courier }
}
