import HTTPTypes
import RelayCore
import RelayEngine
import RelayWire
import Testing

@testable import RelayHTTP

/// Answers take memory until their readers have read them, so the bytes of one caller's answers and
/// of all answers are bounded. Earlier, one caller could hold 256 answers of six megabytes each,
/// more memory than the daemon may have.
@Suite struct AnswerMemoryLimitTests {
  private static let (caller, other) = (
    CallerID.user(Rig.scope, UserID("_abc")), CallerID.user(Rig.scope, UserID("_other"))
  )

  private static func limit(perCaller: Int = 1_000, inAll: Int = 100_000) -> AnswerMemoryLimit {
    var limits = HTTPLimits()
    (limits.answerBytesPerCaller, limits.answerBytesInFlight) = (perCaller, inAll)
    return AnswerMemoryLimit(limits)
  }

  /// Takes room for an answer of `caller`, then for one of `next`. The second is refused with
  /// `code`, or accepted if `code` is nil; a refused answer takes no room.
  private static func answers(
    _ bytes: Int, then second: Int, of next: CallerID, at limit: AnswerMemoryLimit,
    _ code: ServerErrorCode?
  ) throws -> [AnswerRoom] {
    let rooms = [try limit.room(for: caller), try limit.room(for: next)]
    try rooms[0].grow(to: bytes)
    if let code {
      let refusal = #expect(throws: WireError.self) { try rooms[1].grow(to: second) }
      #expect(refusal?.code == code && refusal?.retryAfterSeconds == 1)
    } else {
      try rooms[1].grow(to: second)
    }
    #expect(limit.bytes == bytes + (code == nil ? second : 0))
    return rooms
  }

  /// Fixed limit: bytes of one caller's answers under way
  /// Fixed limit: answers of one user, or of one producer, that are not read
  @Test(arguments: [(second: 599, isRefused: false), (600, false), (601, true)])
  func `the bytes of one caller's answers are bounded`(second: Int, isRefused: Bool) throws {
    let limit = Self.limit()
    let rooms = try Self.answers(
      400, then: second, of: Self.caller, at: limit, isRefused ? .throttled : nil)
    try limit.room(for: Self.other).grow(to: 1_000)
    withExtendedLifetime(rooms) {}
    #expect(HTTPLimits().answerBytesPerCaller == 8 << 20)
  }

  /// Fixed limit: bytes of answers under way
  @Test(arguments: [(second: 599, isRefused: false), (600, false), (601, true)])
  func `the bytes of all answers together are bounded`(second: Int, isRefused: Bool) throws {
    let limit = Self.limit(inAll: 1_000)
    let rooms = try Self.answers(
      400, then: second, of: Self.other, at: limit, isRefused ? .tryAgainLater : nil)
    withExtendedLifetime(rooms) {}
    #expect(HTTPLimits().answerBytesInFlight == 256 << 20)
  }

  /// Half of the memory for answers is reserved for callers with no other answer. Without this
  /// reserve, 32 callers that read nothing would fill the memory.
  @Test(arguments: [(bytes: 199, isRefused: false), (200, false), (201, true)])
  func `half of the answer memory is reserved for callers with no other answer`(
    bytes: Int, isRefused: Bool
  ) throws {
    let limit = Self.limit(inAll: 1_000)
    let rooms = try Self.answers(
      300, then: bytes, of: Self.caller, at: limit, isRefused ? .tryAgainLater : nil)
    let other = try limit.room(for: Self.other)
    try other.grow(to: 500)
    #expect(limit.bytes == 800 + (isRefused ? 0 : bytes))
    withExtendedLifetime((rooms, other)) {}
  }

  /// If every answer had to fit the limit, an answer larger than the limit could never be sent.
  @Test func `an answer may exceed the limit while no other answer exists`() throws {
    let limit = Self.limit(inAll: 2_000)
    var large: AnswerRoom? = try limit.room(for: Self.caller)
    for bytes in [900, 1_500, 5_000] { try large?.grow(to: bytes) }
    #expect(limit.bytes == 5_000)
    let own = #expect(throws: WireError.self) { try limit.room(for: Self.caller) }
    #expect(own?.code == .throttled, "before anything is done for it")
    let others = #expect(throws: WireError.self) { try limit.room(for: Self.other) }
    #expect(others?.code == .tryAgainLater)
    large = nil
    #expect(limit.bytes == 0)
    try limit.room(for: Self.caller).grow(to: 5_000)
  }

  /// The answer to a write is always given, because the client must learn that the write is done.
  @Test func `the answer to a completed write is always given, and its bytes count`() throws {
    let limit = Self.limit()
    let rooms = try (0..<2).map { _ in try limit.room(for: Self.caller) }
    try rooms[0].grow(to: 900)
    try rooms[1].grow(to: 900, isDone: true)
    #expect(limit.bytes == 1_800)
    #expect(throws: WireError.self) { try limit.room(for: Self.caller) }
  }
}
