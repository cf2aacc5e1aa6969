/// What the app's own servers should know of a device: its address was given up, it gives no sign
/// any more, or it is back. Told once, in the cut that makes it durable.
package struct Feedback: Hashable, Sendable {
  package enum News: Hashable, Sendable {
    /// Nothing reaches the address any more.
    ///
    /// - Parameters:
    ///   - reason: the provider's word, or ours: `displaced`.
    ///   - since: the provider's own time, if it told one.
    case retired(reason: String, since: Instant?)
    /// `wakes` were delivered, the first at `since`, and it acknowledged none of them.
    case silent(since: Instant, wakes: Int)
    /// After either of them it gave a sign, or was registered anew.
    case returned
  }

  package var device: DeviceKey
  /// As it was registered when this came about; the token is a secret.
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

  /// Who this item is, wherever and however often it is told: equal for equal news of one device,
  /// registration and moment. Two of the same kind cannot befall one registration at one moment.
  package var id: Identifier {
    Identifier(high: fingerprint(seed: 0xcbf2_9ce4_8422_2325), low: fingerprint(seed: 0x9e37_79b9))
  }

  /// FNV-1a over every part with its length, mixed once more at the end. Nobody gains by forging a
  /// collision: an item is made by the relay alone.
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

/// A place in the feed of feedback. Rises by one with each item of the store, whichever scope it is
/// of, and is never given twice. Zero stands before the first.
package struct FeedbackPosition: Hashable, Comparable, Sendable {
  package var number: UInt64
  package init(_ number: UInt64) { self.number = number }

  package static let zero = FeedbackPosition(0)
  package static func < (left: FeedbackPosition, right: FeedbackPosition) -> Bool {
    left.number < right.number
  }
}
