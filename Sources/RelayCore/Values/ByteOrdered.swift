/// Compares names and texts byte by byte in UTF-8, as the store and its clients do. Swift's own
/// comparison uses canonical equivalence: it would merge two distinct names whose Unicode spellings
/// differ (`é` as one scalar, or as two). Swift's comparison can also take long for a text that was
/// made for this purpose; a comparison by bytes costs at most the length of the shorter text.
package enum ByteOrdered {
  package static func areSame(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return withBytes(of: left, right) { commonBytes($0, $1) == $0.count }
  }

  /// Whether the bytes are those of the text.
  package static func areSame(_ left: String, _ right: UnsafeRawBufferPointer) -> Bool {
    // Swift's native strings are contiguous, so the text is not copied.
    left.utf8.withContiguousStorageIfAvailable { left in
      left.count == right.count
        && commonBytes(UnsafeRawBufferPointer(left), right) == left.count
    } ?? left.utf8.elementsEqual(right)
  }

  package static func areSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return areSame(left, right)
  }

  package static func areSame(_ left: [String?], _ right: [String?]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { areSame($0, $1) }
  }

  /// The order of Unicode code points, which equals the order of the UTF-8 bytes: a total order of
  /// spellings.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    withBytes(of: left, right, precedes)
  }

  package static func begins(_ text: String, with start: String) -> Bool {
    guard text.utf8.count >= start.utf8.count else { return false }
    return withBytes(of: text, start) { commonBytes($0, $1) == $1.count }
  }

  package static func precedes(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    let place = commonBytes(left, right)
    guard place < left.count, place < right.count else { return left.count < right.count }
    return left[place] < right[place]
  }

  /// The length in bytes of the common prefix of two buffers; eight bytes are compared at once.
  private static func commonBytes(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    let common = min(left.count, right.count)
    var place = 0
    while place + 8 <= common {
      let one = left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard one == right.loadUnaligned(fromByteOffset: place, as: UInt64.self) else { break }
      place += 8
    }
    while place < common, left[place] == right[place] { place += 1 }
    return place
  }

  private static func withBytes(
    of left: String, _ right: String,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    // Swift's native strings are contiguous, so no string is copied here.
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        body(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
      }
    }
  }
}

/// A caller's text, to be compared by its spelling with fixed words: `switch Spelled(text) { case
/// "create": … }`.
package struct Spelled: Equatable, ExpressibleByStringLiteral {
  private let text: String

  package init(_ text: String) { self.text = text }
  package init(stringLiteral text: String) { self.text = text }

  package static func == (left: Spelled, right: Spelled) -> Bool {
    ByteOrdered.areSame(left.text, right.text)
  }
}

extension RawRepresentable<String> {
  /// The case with exactly this spelling. All cases must be spelled in ASCII: then Swift's own
  /// comparison compares bytes, and never takes long.
  ///
  /// It runs for every event. Because it is inlinable, each caller has a version for its own type,
  /// which takes a quarter of the time.
  @inlinable package init?(spelled text: String) {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(rawValue: text)
  }
}
