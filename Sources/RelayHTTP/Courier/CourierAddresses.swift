import RelayCore
import RelayEngine

/// Makes and reads courier addresses. An address is sealed, so that it gives access to the wakes of
/// one device only.
struct CourierAddresses: Sendable {
  let keys: any TokenKeys
  let clock: any ClockReader
  let publicURL: String
  let limits: HTTPLimits

  func url(for device: DeviceKey) -> String {
    let expires = clock.wall() + .seconds(limits.courierTokenSeconds)
    let token = SealedText.seal(
      [
        device.scope.container, device.scope.environment.name, device.user.name,
        device.client.text, "\(expires.milliseconds)",
      ], for: .courier, with: keys)
    return "\(publicURL)/courier/1/\(token)"
  }

  /// The scope of an address, even if the address has expired; `nil` means that the relay did not
  /// make the address.
  func scope(of token: String) -> Scope? {
    SealedText.open(token, for: .courier, count: 5, with: keys).flatMap { texts in
      RelayCore.Environment(name: texts[1]).map { Scope(container: texts[0], environment: $0) }
    }
  }

  /// The device of an address, and when the address expires; `nil` means that the address is
  /// unknown or has expired, or that its scope is not configured.
  func device(of token: String, in access: ScopeRegistry) -> (DeviceKey, expires: Instant)? {
    guard let texts = SealedText.open(token, for: .courier, count: 5, with: keys),
      let environment = Environment(name: texts[1]), let client = ClientID(text: texts[3]),
      let number = Int64(texts[4]), clock.wall().milliseconds < number,
      // The device gets the authenticator's own scope, so that fifty thousand connections share the
      // text of one scope.
      let authenticator = access.authenticator(
        of: Scope(container: texts[0], environment: environment))
    else { return nil }
    let device = DeviceKey(scope: authenticator.scope, user: UserID(texts[2]), client: client)
    return (device, Instant(milliseconds: number))
  }
}
