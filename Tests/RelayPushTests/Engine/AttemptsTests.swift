import RelayCore
import Testing

@testable import RelayPush

@Suite struct AttemptsTests {
  private func at(_ milliseconds: Int64) -> Uptime { Uptime(milliseconds: milliseconds) }

  /// Each request is removed exactly once, whether its answer or its deadline comes first.
  @Test func `each request is removed exactly once`() {
    var attempts = Attempts<String>()
    let a = attempts.admit("a", deadline: at(10))
    let b = attempts.admit("b", deadline: at(20))
    #expect(attempts.nextDeadline == at(10))
    #expect(attempts.finish(a) == "a")
    #expect(attempts.finish(a) == nil)
    #expect(attempts.nextDeadline == at(20))
    let early = attempts.expire(at: at(19))
    #expect(early == nil)
    let expired = attempts.expire(at: at(20))
    #expect(expired?.payload == "b")
    #expect(attempts.finish(b) == nil)
    #expect(attempts.count == 0)
    #expect(attempts.nextDeadline == nil)
  }

  @Test func `a freed place is reused with a new attempt ID`() {
    var attempts = Attempts<String>()
    let old = attempts.admit("old", deadline: at(10))
    _ = attempts.finish(old)
    let new = attempts.admit("new", deadline: at(20))
    #expect(old != new)
    #expect(attempts.finish(old) == nil)
    #expect(attempts.finish(new) == "new")
  }

  @Test func `a request with an earlier deadline expires before older requests`() {
    var attempts = Attempts<String>()
    _ = attempts.admit("b", deadline: at(20))
    _ = attempts.admit("c", deadline: at(30))
    _ = attempts.admit("a", deadline: at(10))
    _ = attempts.admit("c2", deadline: at(30))
    let order = (0..<4).map { _ in attempts.expire(at: at(99))?.payload }
    #expect(order == ["a", "b", "c", "c2"])
  }

  /// Compares `Attempts` with a sorted array over 20,000 random operations.
  @Test func `random operations give the same results as on a sorted list`() {
    var random = SplitMix64(seed: 7)
    var attempts = Attempts<Int>()
    var model: [(id: AttemptID, deadline: Int64, value: Int)] = []
    for value in 0..<20_000 {
      let draw = random.next() % 3
      switch model.count < 40 ? draw : max(draw, 1) {
      case 0:
        let deadline = Int64(value) + Int64(random.next() % 5)
        let id = attempts.admit(value, deadline: at(deadline))
        let place = model.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
        model.insert((id, deadline, value), at: place)
      case 1 where !model.isEmpty:
        let victim = model.remove(at: Int(random.next() % UInt64(model.count)))
        #expect(attempts.finish(victim.id) == victim.value)
      default:
        let now = Int64(value) - 10
        let due = model.first.flatMap { $0.deadline <= now ? $0 : nil }
        if due != nil { model.removeFirst() }
        let expired = attempts.expire(at: at(now))
        #expect(expired?.payload == due?.value)
      }
      #expect(attempts.count == model.count)
      #expect(attempts.nextDeadline == model.first.map { at($0.deadline) })
    }
  }
}
