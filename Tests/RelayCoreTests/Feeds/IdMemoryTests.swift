import RelayCore
import Testing

/// L20: repeats are dropped for a time or a number, whichever is shorter.
@Suite struct IdMemoryTests {
  private func item(_ ordinal: UInt64, _ seconds: Double, _ fingerprint: UInt64) -> Remembered {
    Remembered(ordinal: Ordinal(ordinal), at: .s(seconds), fingerprint: fingerprint)
  }

  @Test func aRepeatIsKnownUntilItIsTooOld() {
    var memory = IdMemory()
    let limits = Limits()
    var isNew = [memory.remember(item(1, 0, 42)), memory.remember(item(2, 5, 42))]
    var evicted = memory.evict(at: .s(86_399), limits: limits, share: 1)
    #expect(evicted == nil)
    isNew.append(memory.remember(item(3, 86_399, 42)))
    evicted = memory.evict(at: .s(86_400), limits: limits, share: 1)
    #expect(evicted == Ordinal(1))
    isNew.append(memory.remember(item(4, 86_400, 42)))
    #expect(isNew == [true, false, false, true])
    #expect(memory.count == 1)
  }

  @Test func tooManyAreForgottenOldestFirst() {
    var memory = IdMemory()
    var limits = Limits()
    limits.rememberedIDs = 8
    for ordinal in 1...5 { _ = memory.remember(item(UInt64(ordinal), 0, UInt64(ordinal))) }
    let evicted = memory.evict(at: .s(0), limits: limits, share: 2)
    #expect(evicted == Ordinal(1))
    #expect(memory.count == 4 && memory.oldest == .s(0))
    let isForgotten = memory.remember(item(6, 0, 1))
    let isNew = memory.remember(item(7, 0, 2))
    #expect(isForgotten && !isNew)
  }
}
