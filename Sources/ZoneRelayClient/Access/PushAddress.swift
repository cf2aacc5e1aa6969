public import Foundation

/// How the relay reaches this installation.
public enum PushAddress: Hashable, Sendable {
  /// Apple's push service: the token that the system gives the app, the app's topic (its bundle
  /// id), and whether the app was signed for Apple's sandbox, as builds from Xcode are.
  case apns(Data, topic: String?, sandbox: Bool)
  /// Firebase Cloud Messaging: the registration token.
  case fcm(String)
  /// Web Push: the JSON of a browser's `PushSubscription`.
  case webPush(Data)
  /// The relay's own courier alone: the device learns of changes while it reads
  /// ``ZoneRelayClient/wakes()``.
  case courier
}
