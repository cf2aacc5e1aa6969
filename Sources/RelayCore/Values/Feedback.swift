/// News of a device for the app's own servers: its address was retired, it is silent, or it has
/// returned. The relay reports each item once, in the cut that makes the item durable.
package struct Feedback: Hashable, Sendable {
  package enum News: Hashable, Sendable {
    /// Pushes no longer reach the address.
    ///
    /// - Parameters:
    ///   - reason: the provider's reason, or the relay's own: `displaced` or `lapsed`.
    ///   - since: when the address died, by the provider's report; `nil` if it gave no time.
    case retired(reason: String, since: Instant?)
    /// `wakes` wakes were delivered, the first at `since`, and the device acknowledged none.
    case silent(since: Instant, wakes: Int)
    /// After `silent` the device fetched, acknowledged, connected or was registered again; or after
    /// `retired` it was registered again.
    case returned
  }

  package var device: DeviceKey
  /// The address as registered when the news arose; its token is a secret.
  package var address: Address
  package var registeredAt: Instant
  package var registration: Ordinal
  package var at: Instant
  package var news: News

  package init(
    device: DeviceKey, address: Address, registeredAt: Instant, registration: Ordinal, at: Instant,
    news: News
  ) {
    self.device = device
    self.address = address
    self.registeredAt = registeredAt
    self.registration = registration
    self.at = at
    self.news = news
  }

  /// Identifies this item in every report. Equal news of one device, registration and moment has
  /// the same id. Two items of the same kind cannot arise for one registration at one moment.
  package var id: Identifier {
    Identifier(high: fingerprint(seed: 0xcbf2_9ce4_8422_2325), low: fingerprint(seed: 0x9e37_79b9))
  }

  /// A hash (FNV-1a) over every part with its length, mixed once more at the end. A forged
  /// collision has no use, because only the relay creates items.
  private func fingerprint(seed: UInt64) -> UInt64 {
    var hash = seed
    func mix(byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    func mix(word: UInt64) {
      for place in 0..<8 { mix(byte: UInt8(truncatingIfNeeded: word >> UInt64(place * 8))) }
    }
    func mix(text: String) {
      mix(word: UInt64(text.utf8.count))
      for byte in text.utf8 { mix(byte: byte) }
    }
    mix(text: device.scope.container)
    mix(byte: device.scope.environment.rawValue)
    mix(text: device.user.name)
    mix(word: device.client.bits.high)
    mix(word: device.client.bits.low)
    mix(word: registration.number)
    mix(word: UInt64(bitPattern: at.milliseconds))
    switch news {
    case .retired: mix(byte: 1)
    case .silent: mix(byte: 2)
    case .returned: mix(byte: 3)
    }
    hash = (hash ^ hash >> 31) &* 0x9e37_79b9_7f4a_7c15
    return hash ^ hash >> 29
  }
}

/// A position in the feed of feedback. The position rises by one with each item of the store, in
/// any scope, and is never assigned twice. Zero is before the first item.
package struct FeedbackPosition: Hashable, Comparable, Sendable {
  package var number: UInt64
  package init(_ number: UInt64) { self.number = number }

  package static let zero = FeedbackPosition(0)
  package static func < (left: FeedbackPosition, right: FeedbackPosition) -> Bool {
    left.number < right.number
  }
}
