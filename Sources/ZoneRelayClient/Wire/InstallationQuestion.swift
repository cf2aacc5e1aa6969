/// The body of `tokens/unregister`, which has only `clientId`, and of `wakes/acknowledge`.
struct InstallationQuestion: Encodable {
  var clientId: String
  /// The number of the wake that is acknowledged.
  var w: UInt32?
}
