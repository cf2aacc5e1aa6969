import RelayCore

/// The pushes of the measurement: each is a background wake of one of 1,000 devices, about one
/// changed zone. The payload is made for each push, as in the relay.
enum PushWork {
  static let topic = "com.example.notes"
  static let collapse = "zonerelay-background"
  static let deviceCount = 1_000
  static let tokens: [[UInt8]] = (0..<deviceCount).map { token(of: $0) }

  private static let user = UserID("_f3a19c0d7b5e4821")
  private static let subscription = SubscriptionID("reading")
  private static let payloadBytes = 4_096

  static func name(of token: [UInt8]) -> String { Hex.text(token) }

  static func payload(_ number: Int) -> [UInt8] {
    let zone = ZoneID(name: "ReadingList", owner: user)
    let content = NotificationContent(
      subscription: subscription, notification: Identifier(high: 0x5ca1_ab1e, low: UInt64(number)),
      database: .private, zone: zone, kind: .zone)
    let text = WakeText(
      scope: .measured, user: user, wake: UInt32(truncatingIfNeeded: number), content: content,
      info: nil, subjects: 1, zones: [.init(zone: zone, database: .private)], hasQuery: false,
      isMore: false)
    return PayloadEncoder.encode(text, bytesMax: payloadBytes).bytes
  }

  static func push(_ number: Int, expires: Instant) -> Push {
    Push(
      id: Identifier(high: 0x2e1a_90ff, low: UInt64(number)),
      address: Address(
        transport: .apns, topic: topic, token: tokens[number % deviceCount]),
      intent: .background, expires: expires, collapse: collapse, payload: payload(number))
  }

  /// 32 bytes that resemble a token, different in every part for each device.
  private static func token(of device: Int) -> [UInt8] {
    var state = UInt64(device) &* 0x9e37_79b9_7f4a_7c15 &+ 1
    return (0..<32).map { _ in
      state = (state ^ state >> 31) &* 0xbf58_476d_1ce4_e5b9
      return UInt8(truncatingIfNeeded: state >> 40)
    }
  }
}
