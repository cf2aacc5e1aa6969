@testable import ZoneRelayClient
import Testing

@Suite struct FetchTurnsTests {
  @Test func `callers during a round share the next round`() {
    var turns = FetchTurns()
    let callers = (0..<4).map { _ in turns.newCaller() }
    let begins = turns.join(callers[0], FetchPlan(.notifications))
    #expect(begins)
    #expect(turns.begin() == FetchPlan(.notifications))
    for caller in callers[1...] {
      let begins = turns.join(caller, FetchPlan(.database(.shared)))
      #expect(!begins)
    }
    #expect(turns.end() == [callers[0]])
    #expect(turns.begin() == FetchPlan(.database(.shared)))
    #expect(turns.end() == Set(callers[1...]))
    #expect(turns.begin() == nil)
    let beginsAgain = turns.join(callers[0], .everything)
    #expect(beginsAgain)
  }

  @Test func `a round is wanted until its last caller leaves`() {
    var turns = FetchTurns()
    let (first, second) = (turns.newCaller(), turns.newCaller())
    _ = turns.join(first, .everything)
    _ = turns.join(second, .everything)
    _ = turns.begin()
    turns.leave(first)
    #expect(turns.isWanted)
    turns.leave(second)
    #expect(!turns.isWanted)
    #expect(turns.end() == [])
  }
}
