import NIOCore
@testable import RelayCore
@testable import RelayPush

/// HTTP/2 connections to push providers: nghttp2 reads the frames, our code reads their content.
extension FuzzedParser {
  static let providerSessions: [FuzzedParser] = [
    FuzzedParser("provider-session", seeds: sessionSeeds) { bytes throws(Defect) in
      let session = Session(
        shape: APNsRequest.shape, authority: "h", link: LinkID(0), streamsMax: 4,
        bodyBytesMax: bodyBytesMax)
      var open: Set<AttemptID> = []
      for number in 0..<3 as Range<UInt32> {
        let attempt = AttemptID(index: number, generation: 0)
        let request = APNsRequest.make(push, topic: "t", bearer: "bearer a")
        if session.submit(request, attempt: attempt) != nil { open.insert(attempt) }
      }
      // The first byte is the size of the pieces in which the other bytes come.
      let piece = max(1, Int(bytes.first ?? 0))
      var rest = bytes.dropFirst()
      while !session.isOver, take(rest.prefix(piece), session) {
        rest = rest.dropFirst(piece)
        for case .ended(let attempt, let end) in session.takeEvents() {
          try Defect.unless(
            open.remove(attempt) != nil, "an attempt ends that is not under way")
          try read(end)
        }
        if rest.isEmpty { break }
      }
      let left = session.abandon().map(\.attempt)
      try Defect.unless(
        Set(left) == open && left.count == open.count, "not each attempt ends once")
    }
  ]

  /// - Returns: false after an error.
  private static func take(_ bytes: ArraySlice<UInt8>, _ session: Session) -> Bool {
    var sent = ByteBuffer()
    do {
      try session.drain(into: &sent)
      try Array(bytes).withUnsafeBytes { try session.receive($0) }
      try session.drain(into: &sent)
      return true
    } catch {
      return false
    }
  }

  private static func read(_ end: Session.End) throws(Defect) {
    guard case .answered(let response) = end else { return }
    try Defect.unless(response.body.count <= bodyBytesMax, "a body is longer than its bound")
    try Defect.unless(
      (200...999).contains(response.status), "\(response.status) is no status of an answer")
    _ = ProviderAnswer(apns: response).verdict
  }

  private static let bodyBytesMax = 64

  private static let push = Push(
    id: Identifier(high: 1, low: 2),
    address: Address(transport: .apns, topic: "t", token: [1, 2, 3]), intent: .background,
    expires: now, collapse: nil, payload: Array("{}".utf8))

  private static func frame(
    _ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ body: [UInt8] = []
  ) -> [UInt8] {
    [0, 0, UInt8(body.count), type, flags, 0, 0, 0, stream] + body
  }

  /// The first input has SETTINGS, answers on the first two streams, a reset of the third, and
  /// GOAWAY. The second has SETTINGS, PING, WINDOW_UPDATE, and an answer with status 429.
  private static let sessionSeeds: [[UInt8]] = [
    [255] + frame(4) + frame(4, flags: 1) + frame(1, flags: 5, stream: 1, [0x88])
      + frame(1, flags: 4, stream: 3, [0x8d])
      + frame(0, flags: 1, stream: 3, Array(#"{"reason":"Unregistered"}"#.utf8))
      + frame(3, stream: 5, [0, 0, 0, 7])
      + frame(7, [0, 0, 0, 5, 0, 0, 0, 0] + Array("bye".utf8)),
    [7] + frame(4, [0, 3, 0, 0, 0, 1]) + frame(6, [1, 2, 3, 4, 5, 6, 7, 8])
      + frame(8, [0, 0, 0, 9])
      + frame(
        1, flags: 5, stream: 1,
        [0x08, 0x03] + Array("429".utf8) + [0x00, 0x0b] + Array("retry-after".utf8) + [0x03]
          + Array("120".utf8)),
  ]
}
