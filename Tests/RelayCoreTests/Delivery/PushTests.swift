import RelayCore
import Testing

/// The form in which a wake goes to a sender.
@Suite struct PushTests {
  /// Without its collapse id, a push would not replace the earlier push with this id.
  @Test func `a push holds every value that it is made of`() {
    let push = Push(
      id: Identifier(high: 1, low: 2), address: Sample.address(1), intent: .alert,
      expires: Sample.start, collapse: "c", payload: [3])
    #expect(push.id == Identifier(high: 1, low: 2) && push.address == Sample.address(1))
    #expect(push.intent == .alert && push.expires == Sample.start)
    #expect(push.collapse == "c" && push.payload == [3])
  }
}
