import Foundation
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
    places = bytes.ranges(of: Array(Self.mark.utf8)).map(\.lowerBound)
  }

  /// - Parameter number: a number that is different for each request of a run.
  func bytes(_ number: Int) -> [UInt8] {
    let stamp = Array(String(format: "%012lx", number).utf8)
    var stamped = bytes
    for place in places { stamped.replaceSubrange(place..<place + stamp.count, with: stamp) }
    return stamped
  }
}
