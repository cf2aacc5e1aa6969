/// A question about the installation itself.
struct InstallationQuestion: Encodable {
  var clientId: String
  /// The number of the wake that is acknowledged.
  var w: UInt32?
}
