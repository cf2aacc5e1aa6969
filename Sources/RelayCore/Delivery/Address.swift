/// How wakes travel to a device.
package enum Transport: UInt8, Hashable, Comparable, Sendable, CaseIterable {
  case apns = 1
  case courier = 2
  case fcm = 3
  case webpush = 4

  package var name: String {
    switch self {
    case .apns: "apns"
    case .courier: "courier"
    case .fcm: "fcm"
    case .webpush: "webpush"
    }
  }

  /// Whether all devices of a route share one provider, so that its answers about many devices show
  /// its state.
  package var isOneProvider: Bool {
    switch self {
    case .apns, .fcm: true
    case .courier, .webpush: false
    }
  }

  /// The largest payload that the provider takes, in bytes before encryption. Web Push adds a
  /// header, a padding mark and a tag, and sends one record of 4,096 bytes.
  package var payloadBytesMax: Int {
    switch self {
    case .apns, .courier, .fcm: 4_096
    case .webpush: 3_993
    }
  }

  package static func < (left: Transport, right: Transport) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Where a device can be reached: transport, topic, push token and the provider's environment.
///
/// An address belongs to one registration in a scope, the latest one. The token is a secret: the
/// relay never logs it, and shows only a short digest of it.
package struct Address: Hashable, Sendable {
  package var transport: Transport
  /// The bundle id for APNs, the project for FCM; empty where a transport has none.
  package var topic: String
  /// The bytes of the push token, of any length. For Web Push they encode a `WebSubscription`.
  package var token: [UInt8]
  /// The provider's environment that issued the token, as the app states it; it may differ from the
  /// container's environment. `nil` where the provider has only one environment.
  package var environment: Environment?

  package init(
    transport: Transport, topic: String, token: [UInt8], environment: Environment? = nil
  ) {
    self.transport = transport
    self.topic = topic
    self.token = token
    self.environment = environment
  }

  /// The address without the environment. Addresses are compared in this form, because an app may
  /// state another environment for the same token.
  package var place: Address { Address(transport: transport, topic: topic, token: token) }
}

/// Names a route to a provider. Each route has its own queue and its own circuit, so a fault of one
/// route does not delay another.
package struct RouteKey: Hashable, Comparable, Sendable {
  package var scope: Scope
  package var transport: Transport
  package var topic: String

  package init(scope: Scope, transport: Transport, topic: String) {
    (self.scope, self.transport, self.topic) = (scope, transport, topic)
  }

  package static func < (left: RouteKey, right: RouteKey) -> Bool {
    (left.scope, left.transport, left.topic) < (right.scope, right.transport, right.topic)
  }
}
