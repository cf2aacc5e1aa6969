@testable import RelayCore
import Testing

/// The mass-prune breaker: the relay gives up a few dead tokens, and does not believe the report of
/// a sudden large share of dead tokens.
@Suite struct PruningTests {
  private let word = Verdict.Reason("Unregistered")

  private func attempt(_ serial: UInt64) -> PushAttempt.ID {
    PushAttempt.ID(partition: PartitionID(1), device: Int(serial), serial: serial)
  }

  private func about(
    _ serial: UInt64, user: String? = nil, hasTaken: Bool = true
  ) -> Pruning.Subject {
    Pruning.Subject(
      user: UserID(user ?? "_\(serial)"), client: ClientID(Identifier(high: 0, low: serial)),
      hasTaken: hasTaken)
  }

  /// Reports `count` answers at one moment. Of each hundred answers, `dead` call a token dead.
  private func hear(
    _ pruning: inout Pruning, _ count: Int, dead: Int, at now: Instant
  ) -> [Verdict] {
    (0..<count).compactMap { number in
      let isDead = number * dead / 100 != (number + 1) * dead / 100
      return pruning.heard(
        isDead ? .gone(at: nil, word) : .delivered, of: attempt(UInt64(number)),
        about: about(UInt64(number)), at: now)
    }
  }

  @Test func `one dead token is given up after two seconds`() {
    var pruning = Pruning()
    #expect(
      pruning.heard(.gone(at: .s(-9), word), of: attempt(1), about: about(1), at: .s(0)) == nil)
    #expect(pruning.judged(at: .s(1.9)).isEmpty && pruning.nextTimer == .s(2))
    #expect(
      pruning.judged(at: .s(2))
        == [Pruning.Judgement(attempt: attempt(1), verdict: .gone(at: .s(-9), word))])
    #expect(pruning.nextTimer == nil && pruning.stop == nil)
  }

  @Test func `all dead tokens are given up if they are one in a hundred`() {
    var pruning = Pruning()
    #expect(hear(&pruning, 2_000, dead: 1, at: .s(0)).count == 1_980)
    let judged = pruning.judged(at: .s(2))
    #expect(judged.count == 20 && judged.allSatisfy { $0.verdict == .gone(at: nil, word) })
    #expect(pruning.stop == nil)
  }

  @Test func `sixty dead tokens in a hundred start a quarantine, none is given up`() {
    var pruning = Pruning()
    let settled = hear(&pruning, 1_000, dead: 60, at: .s(0))
    let held = pruning.judged(at: .s(0))
    #expect(settled.count + held.count == 1_000)
    let rest = Verdict.later(after: .minutes(5), .quarantine, .init("quarantined: Unregistered"))
    #expect(held.count == 10 && held.allSatisfy { $0.verdict == rest })
    #expect(settled.count { $0 == rest } == 590 && settled.count { $0 == .delivered } == 400)
    #expect(pruning.stop?.dead == 10 && pruning.stop?.reason == "Unregistered")
    #expect(pruning.stop?.until == .s(300))
  }

  /// A quarantine needs dead tokens of at least ten users. With nine, the relay believes every
  /// report.
  @Test func `nine dead tokens of nine answers start no quarantine`() {
    var pruning = Pruning()
    _ = hear(&pruning, 9, dead: 100, at: .s(0))
    #expect(pruning.judged(at: .s(2)).count == 9 && pruning.stop == nil)
  }

  /// A token called dead is not asked again, so its answer must not count for ever.
  @Test func `the dead tokens of a healthy app do not add up to a quarantine`() {
    var pruning = Pruning()
    for round in 0..<40 {
      let now = Instant.s(Double(round) * 60)
      _ = hear(&pruning, 90, dead: 0, at: now)
      let serial = UInt64(1_000 + round)
      _ = pruning.heard(.gone(at: nil, word), of: attempt(serial), about: about(serial), at: now)
      #expect(pruning.judged(at: now + .seconds(2)).map(\.verdict) == [.gone(at: nil, word)])
    }
    #expect(pruning.stop == nil)
  }

  /// The case: after many healthy answers the provider's key becomes wrong.
  @Test func `earlier healthy answers do not outweigh twenty new dead tokens`() {
    var pruning = Pruning()
    _ = hear(&pruning, 1_000, dead: 0, at: .s(0))
    for serial in 2_000..<2_020 as Range<UInt64> {
      #expect(pruning.stop == nil)
      _ = pruning.heard(
        .gone(at: nil, word), of: attempt(serial), about: about(serial), at: .s(60))
    }
    #expect(pruning.stop?.dead == 20 && pruning.stop?.users == 100)
  }

  /// The daemon may be suspended after the reports and go on after the end of the quarantine.
  @Test func `reports that began a quarantine are not believed when it has ended`() {
    var pruning = Pruning()
    _ = hear(&pruning, 60, dead: 100, at: .s(0))
    let rest = Verdict.later(after: .zero, .quarantine, .init("quarantined: Unregistered"))
    let judged = pruning.judged(at: .s(400))
    #expect(judged.count == 10 && judged.allSatisfy { $0.verdict == rest })
  }

  @Test func `after its time, twenty healthy answers end a quarantine`() {
    var pruning = Pruning()
    _ = hear(&pruning, 100, dead: 60, at: .s(0))
    _ = pruning.judged(at: .s(0))
    // Healthy answers of other devices do not end the quarantine.
    _ = hear(&pruning, 200, dead: 0, at: .s(100))
    #expect(pruning.stop != nil)
    // The fault is corrected: the quarantined devices are reached.
    _ = hear(&pruning, 19, dead: 0, at: .s(301))
    #expect(pruning.stop != nil)
    _ = hear(&pruning, 1, dead: 0, at: .s(301))
    #expect(pruning.stop == nil)
  }

  /// A small app has no further devices whose answers could end the quarantine.
  @Test func `a quarantine of twelve devices ends with twelve healthy answers`() {
    var pruning = Pruning()
    _ = hear(&pruning, 12, dead: 100, at: .s(0))
    _ = pruning.judged(at: .s(0))
    _ = hear(&pruning, 11, dead: 0, at: .s(301))
    #expect(pruning.stop != nil)
    _ = hear(&pruning, 1, dead: 0, at: .s(301))
    #expect(pruning.stop == nil)
  }

  @Test func `a quarantine of few devices that are called dead again goes on`() {
    var pruning = Pruning()
    var resting = 0
    // The relay believes the first four reports. At the tenth, it has not decided on the last six.
    for serial in 0..<10 as Range<UInt64> {
      let now = Instant.s(serial < 4 ? Double(serial) * 60 : 240)
      _ = pruning.judged(at: now)
      _ = pruning.heard(.gone(at: nil, word), of: attempt(serial), about: about(serial), at: now)
    }
    resting = pruning.judged(at: .s(240)).count
    #expect(pruning.stop?.until == .s(540) && resting == 6)
    for serial in 4..<10 as Range<UInt64> {
      _ = pruning.heard(
        .gone(at: nil, word), of: attempt(serial), about: about(serial), at: .s(541))
    }
    #expect(pruning.stop != nil)
  }

  /// A route that never worked has a wrong endpoint, topic or key until an operator corrects it, so
  /// the relay tries the route less and less often.
  @Test func `a route that never worked is asked again after 5, 10 and 20 minutes`() {
    var pruning = Pruning()
    var (now, waits) = (Instant.s(0), [Span]())
    for _ in 0..<3 {
      for serial in 0..<3 as Range<UInt64> {
        let subject = Pruning.Subject(
          user: about(serial).user, client: about(serial).client, hasTaken: false)
        _ = pruning.heard(.gone(at: nil, word), of: attempt(serial), about: subject, at: now)
      }
      _ = pruning.judged(at: now)
      guard let until = pruning.stop?.until else { break }
      waits.append(until - now)
      now = until
    }
    #expect(waits == [.minutes(5), .minutes(10), .minutes(20)])
    let first = Pruning.Subject(
      user: about(9).user, client: about(9).client, hasTaken: false)
    _ = pruning.heard(.delivered, of: attempt(9), about: first, at: now)
    #expect(pruning.stop == nil)
    _ = hear(&pruning, 60, dead: 100, at: now)
    #expect(pruning.stop?.until == now + .minutes(5), "the first push that is accepted resets it")
  }

  /// A corrected endpoint gets pushes at once, and a new quarantine has its first length again.
  @Test func `a new provider can end the quarantine early and resets its length`() {
    var pruning = Pruning()
    _ = hear(&pruning, 60, dead: 100, at: .s(0))
    _ = pruning.judged(at: .s(0))
    pruning.renew(at: .s(10))
    _ = hear(&pruning, 20, dead: 0, at: .s(11))
    #expect(pruning.stop == nil)
    _ = hear(&pruning, 60, dead: 100, at: .s(20))
    #expect(pruning.stop?.until == .s(320))
  }

  @Test func `a reload applies another length to the next quarantine, and none to a longer one`() {
    var (rule, pruning) = (Pruning.Rule(), Pruning())
    rule.quarantine = .hours(1)
    pruning.reconfigure(rule)
    _ = hear(&pruning, 60, dead: 100, at: .s(0))
    _ = pruning.judged(at: .s(0))
    #expect(pruning.stop?.until == .s(3_600))
    _ = hear(&pruning, 60, dead: 100, at: .s(3_600))
    _ = pruning.judged(at: .s(3_600))
    rule.quarantine = .minutes(1)
    pruning.reconfigure(rule)
    #expect(pruning.stop?.until == .s(3 * 3_600), "it is twice as long already")
    _ = hear(&pruning, 60, dead: 100, at: .s(3 * 3_600))
    _ = pruning.judged(at: .s(3 * 3_600))
    #expect(pruning.stop?.until == .s(7 * 3_600), "and goes on from there")
  }

  @Test func `a reload applies to reports that are held already`() {
    var (rule, pruning) = (Pruning.Rule(), Pruning())
    _ = pruning.heard(.gone(at: nil, word), of: attempt(1), about: about(1), at: .s(0))
    rule.hold = .seconds(9)
    pruning.reconfigure(rule)
    #expect(pruning.judged(at: .s(8)).isEmpty && pruning.nextTimer == .s(9))
    #expect(pruning.judged(at: .s(9)).count == 1)
  }

  @Test func `each repeated quarantine is twice as long, up to six hours`() {
    var pruning = Pruning()
    var now = Instant.s(0)
    var lengths: [Span] = []
    for _ in 0..<9 {
      _ = hear(&pruning, 60, dead: 100, at: now)
      _ = pruning.judged(at: now)
      guard let until = pruning.stop?.until else { break }
      lengths.append(until - now)
      now = until
    }
    #expect(lengths.prefix(3) == [.minutes(5), .minutes(10), .minutes(20)])
    #expect(lengths.last == .hours(6))
  }

  /// Earlier, a provider that answered one device at a time after a quarantine was believed, answer
  /// by answer, before ten devices had answered.
  @Test func `slow answers after a quarantine are not judged one by one`() {
    var pruning = Pruning()
    _ = hear(&pruning, 60, dead: 100, at: .s(0))
    _ = pruning.judged(at: .s(0))
    for second in 0..<9 {
      let now = Instant.s(301 + Double(second))
      let serial = UInt64(second)
      #expect(
        pruning.heard(.gone(at: nil, word), of: attempt(serial), about: about(serial), at: now)
          == nil)
      #expect(pruning.judged(at: now + .seconds(2)).isEmpty)
    }
    #expect(pruning.nextTimer == .s(331))
    _ = pruning.heard(.gone(at: nil, word), of: attempt(20), about: about(20), at: .s(312))
    let judged = pruning.judged(at: .s(312))
    #expect(judged.count == 10 && judged.allSatisfy { $0.verdict != .gone(at: nil, word) })
    #expect(pruning.stop?.until == .s(312 + 600))
  }

  /// When few devices are left to ask, their answers count after a wait of thirty seconds.
  @Test func `a few dead tokens after a quarantine are given up in the end`() {
    var pruning = Pruning()
    _ = hear(&pruning, 60, dead: 100, at: .s(0))
    _ = pruning.judged(at: .s(0))
    _ = pruning.heard(.gone(at: nil, word), of: attempt(1), about: about(1), at: .s(301))
    #expect(pruning.judged(at: .s(330)).isEmpty)
    #expect(pruning.judged(at: .s(331)).map(\.verdict) == [.gone(at: nil, word)])
    // After thirty accepted pushes the relay again believes a report that a token is dead.
    _ = pruning.heard(.gone(at: nil, word), of: attempt(2), about: about(2), at: .s(340))
    _ = hear(&pruning, 30, dead: 0, at: .s(341))
    #expect(pruning.stop == nil)
    #expect(pruning.judged(at: .s(342)).map(\.verdict) == [.gone(at: nil, word)])
  }

  @Test func `only a gone verdict counts against a token`() {
    var pruning = Pruning()
    let verdicts: [Verdict] = [
      .later(after: nil, .route, .init("x")), .later(after: nil, .device, .init("x")),
      .rejected(.init("x")),
    ]
    for (number, verdict) in verdicts.enumerated() {
      #expect(
        pruning.heard(verdict, of: attempt(UInt64(number)), about: about(UInt64(number)), at: .s(0))
          == verdict)
    }
    #expect(pruning.nextTimer == nil)
  }
}
