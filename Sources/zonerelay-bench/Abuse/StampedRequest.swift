import NIOCore

/// A request that is written once. Each turn only inserts its own number, so that the bench spends
/// its time on sending and not on writing megabytes of text.
struct StampedRequest: Sendable {
  /// The placeholder of the number: twelve hexadecimal digits replace it.
  static let mark = "@@@@@@@@@@@@"

  private let bytes: [UInt8]
  private let places: [Int]

  init(_ request: ByteBuffer) {
    bytes = Array(request.readableBytesView)
    let (length, sign) = (Self.mark.utf8.count, UInt8(ascii: "@"))
    var places: [Int] = []
    var run = 0
    for (index, byte) in bytes.enumerated() {
      run = byte == sign ? run + 1 : 0
      guard run == length else { continue }
      places.append(index + 1 - length)
      run = 0
    }
    self.places = places
  }

  /// - Parameter number: a number that is different for each request of a run.
  func bytes(_ number: Int) -> [UInt8] {
    let digits = String(UInt64(number), radix: 16)
    let stamp = Array(
      (String(repeating: "0", count: Self.mark.utf8.count - digits.count) + digits).utf8)
    var stamped = bytes
    for place in places { stamped.replaceSubrange(place..<place + stamp.count, with: stamp) }
    return stamped
  }
}
