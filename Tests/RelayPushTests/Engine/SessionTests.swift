import NIOCore
import Testing

@testable import RelayPush

/// The order of requests on a connection whose window is full. The peer is played byte by byte.
@Suite struct SessionTests {
  private static let bodyBytes = 4_000
  private static let shape = RequestShape(fields: [], kept: [], probation: false)

  private let session = Session(
    shape: shape, authority: "h", link: LinkID(1), streamsMax: 100, bodyBytesMax: 100)

  private func submit(_ number: Int, bytes: Int = bodyBytes) -> Int? {
    let body = [UInt8](repeating: 1, count: bytes)
    let request = Request(Self.shape, valueBytes: 10, body: body) { $0.value("/") }
    return session.submit(request, attempt: AttemptID(index: UInt32(number), generation: 0))
  }

  /// The frames that the session sends now.
  private func frames(isFirst: Bool = false) throws -> [Frame.Received] {
    var buffer = ByteBuffer()
    try session.drain(into: &buffer)
    if isFirst { buffer.moveReaderIndex(forwardBy: Frame.prefaceBytes) }
    var frames: [Frame.Received] = []
    while let frame = Frame.take(from: &buffer) { frames.append(frame) }
    return frames
  }

  /// The bytes of body that the session sends now, by stream, in order.
  private func sent(isFirst: Bool = false) throws -> [(stream: UInt32, bytes: Int)] {
    try frames(isFirst: isFirst).filter { $0.type == Frame.Kind.data.rawValue }
      .map { ($0.stream, $0.payload.readableBytes) }
  }

  private func receive(
    _ kind: Frame.Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []
  ) throws {
    var buffer = ByteBuffer()
    Frame.write(kind, flags: flags, stream: stream, payload, to: &buffer)
    try buffer.withUnsafeReadableBytes { try session.receive($0) }
  }

  /// A full connection: 16 requests have left, and the next two wait. HTTP/2 begins a connection
  /// with a window of 65,535 bytes.
  private func fill() throws {
    try receive(.settings)
    for number in 0..<18 { #expect(submit(number) != nil) }
    let bodies = try sent(isFirst: true)
    #expect(bodies.map(\.stream) == Array(stride(from: UInt32(1), through: 31, by: 2)))
    #expect(bodies.allSatisfy { $0.bytes == Self.bodyBytes })
  }

  @Test func `a request that the window would divide waits, and goes before later ones`() throws {
    try fill()
    for number in 18..<20 { #expect(submit(number) != nil) }
    #expect(try sent().isEmpty)
    try receive(.windowUpdate, Frame.word(UInt32(2 * Self.bodyBytes)))
    let bodies = try sent()
    #expect(bodies.map(\.stream) == [33, 35])
    #expect(bodies.allSatisfy { $0.bytes == Self.bodyBytes })
    try receive(.windowUpdate, Frame.word(UInt32(2 * Self.bodyBytes)))
    #expect(try sent().map(\.stream) == [37, 39])
  }

  @Test func `a small request does not pass a large one that waits`() throws {
    try fill()
    #expect(submit(18, bytes: 100) != nil)
    #expect(try sent().isEmpty)
    try receive(.windowUpdate, Frame.word(UInt32(2 * Self.bodyBytes)))
    #expect(try sent().map(\.stream) == [33, 35, 37])
  }

  @Test func `a ping and a reset leave while a request waits`() throws {
    try receive(.settings)
    for number in 0..<16 { #expect(submit(number) != nil) }
    let place = try #require(submit(16))
    _ = try frames(isFirst: true)
    session.ping()
    session.cancel(place, attempt: AttemptID(index: 16, generation: 0))
    let kinds = try frames().map { Frame.Kind(rawValue: $0.type) }
    #expect(Set(kinds) == [.ping, .reset])
  }

  @Test func `a request that is given up while it waits leaves room for the next`() throws {
    try receive(.settings)
    for number in 0..<16 { #expect(submit(number) != nil) }
    let place = try #require(submit(16))
    #expect(submit(17) != nil)
    #expect(try sent(isFirst: true).count == 16)
    session.cancel(place, attempt: AttemptID(index: 16, generation: 0))
    #expect(try sent().isEmpty)
    try receive(.windowUpdate, Frame.word(UInt32(Self.bodyBytes)))
    #expect(try sent().map(\.stream) == [35])
  }

  /// The peer's window for a stream has room for a part of a body only, so that it must be divided.
  @Test func `a body larger than a stream's window leaves in parts`() throws {
    try receive(.settings, [0, 4] + Frame.word(1_000))
    #expect(submit(0) != nil)
    #expect(try sent(isFirst: true).map(\.bytes) == [1_000])
  }

  // MARK: - What the peer may have taken

  /// Only the 16 requests that have left whole may have been taken.
  @Test func `a lost connection tells which requests had left whole`() throws {
    try fill()
    let left = session.abandon()
    #expect(left.map(\.attempt.index) == Array(0..<18))
    #expect(left.map(\.isWhole) == Array(repeating: true, count: 16) + [false, false])
  }

  @Test func `a request that is given up tells whether it had left whole`() throws {
    try receive(.settings)
    let places = try (0..<17).map { try #require(submit($0)) }
    _ = try frames(isFirst: true)
    let isWhole = places.enumerated().map { number, place in
      session.cancel(place, attempt: AttemptID(index: UInt32(number), generation: 0))
    }
    #expect(isWhole == Array(repeating: true, count: 16) + [false])
  }

  @Test func `a reset tells whether the request had left whole`() throws {
    try fill()
    for stream: UInt32 in [31, 33] {
      try receive(.reset, stream: stream, Frame.word(2))
    }
    #expect(ends() == [15: "INTERNAL_ERROR", 16: "INTERNAL_ERROR, not whole"])
  }

  /// The peer may answer before it has the whole request, and need not reset the stream (RFC 9113,
  /// section 8.1).
  @Test func `an early answer ends a request whose body waits`() throws {
    try fill()
    try receive(.headers, flags: 5, stream: 33, Frame.status(410))
    let frames = try frames()
    #expect(frames.map { Frame.Kind(rawValue: $0.type) } == [.reset])
    #expect(frames.map(\.stream) == [33])
    #expect(ends() == [16: "410"])
  }

  /// Stream 31's request has left whole; those of the streams 33 and 35 wait. The peer answers each
  /// with headers only, and then resets the stream.
  @Test func `half an answer counts only if the request had left whole`() throws {
    try fill()
    for (stream, code) in [(31, 2), (33, 2), (35, 7)] as [(UInt32, UInt32)] {
      try receive(.headers, flags: 4, stream: stream, Frame.status(200))
      try receive(.reset, stream: stream, Frame.word(code))
    }
    #expect(ends() == [15: "200", 16: "INTERNAL_ERROR, not whole", 17: "unprocessed"])
  }

  /// nghttp2 accepts any three digits as a status. Only the request of stream 31 has left whole.
  @Test func `an answer with a status below 100 is none`() throws {
    try fill()
    for stream: UInt32 in [31, 33] {
      try receive(.headers, flags: 5, stream: stream, [0x08, 3] + Array("029".utf8))
    }
    _ = try frames()
    #expect(ends() == [15: "NO_ERROR", 16: "CANCEL, not whole"])
  }

  /// How the streams have ended since the previous call, by the number of the request.
  private func ends() -> [Int: String] {
    var ends: [Int: String] = [:]
    for event in session.takeEvents() {
      guard case .ended(let attempt, let end) = event else { continue }
      ends[Int(attempt.index)] =
        switch end {
        case .answered(let response): "\(response.status)"
        case .unprocessed: "unprocessed"
        case .reset(let name, let isWhole): isWhole ? name : "\(name), not whole"
        }
    }
    return ends
  }
}
