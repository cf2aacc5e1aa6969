/// Messages of one partition to another that keep their order among themselves: those about one
/// shared zone, or about public records. A hot zone's messages wait for room on their track, and
/// messages on other tracks overtake them.
///
/// A message's serial contains its track, so that the target can drop repeats on each track by the
/// highest serial that it has received.
package struct Track: Hashable, Comparable, Sendable {
  package let number: UInt8

  private static let indexBits = 11
  /// The number of tracks. The first track is for messages that concern no zone.
  static let count = 1 << (16 - indexBits)
  static let common = Track(number: 0)

  private init(number: UInt8) { self.number = number }

  package init(of serial: Position) {
    number = UInt8(truncatingIfNeeded: (serial.bits & 0xffff) >> UInt64(Self.indexBits))
  }

  /// The track of a message. The assignment must never change, because messages of an earlier
  /// process may still be on their track.
  init(of message: Forwarded.Message) {
    guard case .change(let change, _) = message else {
      self = .common
      return
    }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ text: String) {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }
    mix(change.scope.container)
    // All public records share one track. With a track for each type, changes of one record name
    // could lose their order, because a name may be reused for a record of another type.
    mix(change.zone.owner.name)
    mix(change.zone.name)
    number = UInt8(1 + (hash ^ hash >> 32) % UInt64(Self.count - 1))
  }

  /// - Parameter index: the message's index among the messages that its partition sends in one
  ///   step.
  func serial(_ ordinal: Ordinal, index: Int) -> Position {
    precondition(index < 1 << Self.indexBits, "a step sends more than 2,048 messages")
    return Position(ordinal, index: Int(number) << Self.indexBits | index)
  }

  package static func < (left: Track, right: Track) -> Bool { left.number < right.number }
}

extension Position {
  /// The index of a message among the messages of its step, if this position is the message's
  /// serial.
  var indexOnTrack: Int { Int(bits & 0x7ff) }
}
