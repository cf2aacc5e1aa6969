internal import Foundation

/// A question about the installation itself.
struct InstallationQuestion: Encodable {
  private var clientId: String
  private var apnsEnvironment: String?
  private var w: UInt32?

  init(_ installation: UUID, environment: RelayAddress.Environment? = nil, wake: UInt32? = nil) {
    clientId = installation.name
    apnsEnvironment = environment?.rawValue
    w = wake
  }
}
