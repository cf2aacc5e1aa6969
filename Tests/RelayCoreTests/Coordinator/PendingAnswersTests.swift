import Testing

@testable import RelayCore

@Suite struct PendingAnswersTests {
  private let home = PartitionID(4)
  private let target = PartitionID(9)

  private func ticket(_ index: Int) -> RequestTicket {
    RequestTicket(request: RequestID(1), index: index)
  }

  private func row(_ ordinal: UInt64, index: Int = 0) -> OutboxRow {
    OutboxRow(
      source: home,
      key: OutboxRow.Key(target: target, serial: Position(Ordinal(ordinal), index: index)),
      message: .interests([]))
  }

  /// An answer that needs the fold comes with the fold that holds its fact, no earlier.
  @Test func `a fold sends the answers of the facts in its cut`() {
    var answers = PendingAnswers()
    answers.wait(ticket(0), .done, .folded, home, Ordinal(1))
    answers.cut()
    answers.wait(ticket(1), .done, .folded, home, Ordinal(2))
    #expect(answers.folded([]).map(\.ticket.index) == [0])
    answers.cut()
    #expect(answers.folded([]).map(\.ticket.index) == [1])
    #expect(!answers.isAwaitingFold)
  }

  /// An answer at `Answer.Moment.settled` waits until each message of its fact has been stepped by
  /// its target partition (P9).
  @Test func `a settled answer waits until all forwarded messages are delivered`() {
    var answers = PendingAnswers()
    answers.wait(ticket(0), .accepted, .settled, home, Ordinal(1))
    answers.wait(ticket(1), .accepted, .settled, home, Ordinal(2))
    answers.cut()
    #expect(answers.folded([row(1), row(1, index: 1)]).map(\.ticket.index) == [1])
    #expect(answers.delivered(row(1).key, from: home).isEmpty)
    #expect(answers.delivered(row(1, index: 1).key, from: home).map(\.ticket.index) == [0])
    #expect(answers.delivered(row(1).key, from: home).isEmpty)
  }

  /// P9, seed 8026: a revocation was repeated while the message of the first was under way to its
  /// participant, and the repeat was answered too early. A repeat also waits for messages that an
  /// earlier life left in the outbox.
  @Test func `a repeat is answered no sooner than the change it repeats`() {
    var answers = PendingAnswers()
    answers.recovered([row(1)])
    answers.wait(ticket(0), .accepted, .settled, home, Ordinal(2))
    answers.wait(ticket(1), .duplicate, .caughtUp, home, Ordinal(3))
    answers.cut()
    #expect(answers.folded([row(2)]).isEmpty)
    #expect(answers.delivered(row(2).key, from: home).map(\.ticket.index) == [0])
    #expect(answers.delivered(row(1).key, from: home).map(\.ticket.index) == [1])
    answers.wait(ticket(2), .duplicate, .caughtUp, home, Ordinal(4))
    answers.cut()
    #expect(answers.folded([row(5)]).map(\.ticket.index) == [2])
  }

  /// A repeated change is answered when all messages before it are delivered, in whichever order.
  @Test func `a caught-up answer waits for all earlier messages to be delivered`() {
    var answers = PendingAnswers()
    for ordinal in UInt64(1)...6 {
      answers.wait(
        ticket(Int(ordinal)), .duplicate, .caughtUp, home, Ordinal(ordinal))
    }
    answers.cut()
    #expect(answers.folded([row(2), row(4), row(6)]).map(\.ticket.index) == [1])
    #expect(answers.delivered(row(4).key, from: home).isEmpty)
    #expect(answers.delivered(row(2).key, from: home).map(\.ticket.index) == [2, 3, 4, 5])
    #expect(answers.delivered(row(6).key, from: home).map(\.ticket.index) == [6])
  }

  /// The cost of a delivery does not grow with the number of answers and deliveries under way.
  /// Earlier, each delivery looked through all of them, and this test took minutes.
  @Test(.timeLimit(.minutes(1)))
  func `delivering a message costs the same for any number of answers`() {
    var answers = PendingAnswers()
    let count: UInt64 = 20_000
    for ordinal in 1...count {
      answers.wait(ticket(Int(ordinal)), .duplicate, .caughtUp, home, Ordinal(ordinal))
    }
    answers.cut()
    var answered = answers.folded((1...count).map { row($0) }).count
    for ordinal in (1...count).reversed() {
      answered += answers.delivered(row(ordinal).key, from: home).count
    }
    #expect(answered == Int(count))
  }

  /// A caller whose fact belongs to a partition that the cut left out waits for a later fold.
  @Test func `a fold does not answer the facts of a partition left out of its cut`() {
    var answers = PendingAnswers()
    answers.wait(ticket(0), .done, .folded, home, Ordinal(1))
    answers.wait(ticket(1), .done, .folded, target, Ordinal(1))
    answers.cut(without: [home])
    #expect(answers.folded([]).map(\.ticket.index) == [1])
    answers.cut()
    #expect(answers.folded([]).map(\.ticket.index) == [0])
  }
}
