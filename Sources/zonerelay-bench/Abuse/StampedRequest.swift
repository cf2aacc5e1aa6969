import Foundation
import NIOCore

/// A request whose text is made once and sent often. Before each sending, the bench only inserts a
/// new number, so that it spends its time on sending and not on writing megabytes of text.
struct StampedRequest: Sendable {
  /// The place for the number of the request: twelve hexadecimal digits replace this text.
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
