@testable import RelayCore
import Testing

/// How much each user's dead tokens count in the mass-prune breaker, and when a few dead tokens are
/// enough for a quarantine.
@Suite struct PruningWeightTests {
  private let word = Verdict.Reason("BadDeviceToken")
  private let rest = Verdict.later(
    after: .minutes(5), .quarantine, .init("quarantined: BadDeviceToken"))

  private func attempt(_ serial: Int) -> PushAttempt.ID {
    PushAttempt.ID(partition: PartitionID(1), device: serial, serial: UInt64(serial))
  }

  private func about(_ device: Int, of user: String, hasTaken: Bool) -> Pruning.Subject {
    Pruning.Subject(
      user: UserID(user), client: ClientID(Identifier(high: 0, low: UInt64(device))),
      hasTaken: hasTaken)
  }

  @discardableResult
  private func deliver(_ pruning: inout Pruning, _ device: Int, of user: String) -> Verdict? {
    pruning.heard(
      .delivered, of: attempt(device), about: about(device, of: user, hasTaken: false),
      at: .s(0))
  }

  private func die(
    _ pruning: inout Pruning, _ device: Int, of user: String, hasTaken: Bool = false,
    since: Instant? = nil, at now: Instant = .s(0)
  ) {
    _ = pruning.heard(
      .gone(at: since, word), of: attempt(device),
      about: about(device, of: user, hasTaken: hasTaken), at: now)
  }

  /// Earlier, a hundred dead tokens of one user stopped all pruning, and `status` was unhealthy.
  @Test(arguments: [false, true])
  func `one user's dead tokens start no quarantine and are all given up`(hasTaken: Bool) {
    var pruning = Pruning()
    for device in 0..<20 { deliver(&pruning, device, of: "_\(device)") }
    for device in 100..<200 { die(&pruning, device, of: "_stranger", hasTaken: hasTaken) }
    #expect(pruning.stop == nil)
    let judged = pruning.judged(at: .s(2))
    #expect(judged.count == 100 && judged.allSatisfy { $0.verdict == .gone(at: nil, word) })
  }

  @Test(arguments: [(9, true, false), (10, true, true), (19, false, false), (20, false, true)])
  func `tokens that took a push weigh twice as much as invented tokens`(
    users: Int, hasTaken: Bool, stops: Bool
  ) {
    var pruning = Pruning()
    for device in 0..<20 { deliver(&pruning, device, of: "_\(device)") }
    for device in 100..<100 + users { die(&pruning, device, of: "_\(device)", hasTaken: hasTaken) }
    #expect((pruning.stop != nil) == stops)
    if stops { #expect(pruning.stop?.dead == users && pruning.stop?.users == 20 + users) }
  }

  @Test func `invented tokens do not outweigh a user's real device`() {
    var pruning = Pruning()
    for user in 0..<40 {
      deliver(&pruning, user, of: "_\(user)")
      die(&pruning, 100 + user, of: "_\(user)")
    }
    #expect(pruning.stop == nil)
    // The breaker counts a device that has taken a push. Here the provider calls such devices of
    // ten users dead, so the breaker stops the pruning.
    for user in 0..<10 { die(&pruning, user, of: "_\(user)", hasTaken: true) }
    #expect(pruning.stop != nil)
  }

  @Test func `dead tokens of a small app are not given up before a first delivery`() {
    var pruning = Pruning()
    for device in 1...3 { die(&pruning, device, of: "_a") }
    let judged = pruning.judged(at: .s(2))
    #expect(judged.count == 3 && judged.allSatisfy { $0.verdict == rest })
    #expect(pruning.stop == nil, "one user is no reason for alarm")
    // The fault is corrected: a token that is called dead from now on is given up.
    deliver(&pruning, 1, of: "_a")
    die(&pruning, 2, of: "_a", at: .s(300))
    #expect(pruning.judged(at: .s(302)).map(\.verdict) == [.gone(at: nil, word)])
  }

  @Test func `dead tokens of several users start a quarantine until a delivery`() {
    var pruning = Pruning()
    for device in 1...3 { die(&pruning, device, of: "_\(device)") }
    #expect(pruning.stop == Pruning.Stop(dead: 3, users: 3, reason: word.text, until: .s(300)))
    #expect(pruning.judged(at: .s(0)).map(\.verdict) == [rest, rest, rest])
    deliver(&pruning, 4, of: "_4")
    #expect(pruning.stop == nil)
  }

  @Test
  func `a gone verdict counts for a single, a proven or a dated token`() {
    var alone = Pruning()
    die(&alone, 1, of: "_a")
    #expect(alone.judged(at: .s(2)).map(\.verdict) == [.gone(at: nil, word)])
    var taken = Pruning()
    die(&taken, 1, of: "_a", hasTaken: true)
    die(&taken, 2, of: "_b")
    #expect(taken.judged(at: .s(2)).count { $0.verdict == .gone(at: nil, word) } == 2)
    var dated = Pruning()
    for device in 1...5 { die(&dated, device, of: "_\(device)", since: .s(-1)) }
    #expect(dated.judged(at: .s(2)).count { $0.verdict == .gone(at: .s(-1), word) } == 5)
    var browsers = Pruning(isOneProvider: false)
    for device in 1...5 { die(&browsers, device, of: "_\(device)") }
    #expect(browsers.judged(at: .s(2)).count { $0.verdict == .gone(at: nil, word) } == 5)
    var endpoints = Route(inFlightMax: 100, probe: .seconds(30), outageDevices: nil)
    for device in 1...5 {
      endpoints.began(attempt(device))
      _ = endpoints.ended(
        .gone(at: nil, word), of: attempt(device),
        about: about(device, of: "_\(device)", hasTaken: false), at: .s(0))
    }
    #expect(endpoints.judged(at: .s(2)).count { $0.verdict == .gone(at: nil, word) } == 5)
  }

  // MARK: In a partition

  /// Pushes that a token took say nothing about the device's next token.
  @Test func `a device that took a push counts as proven until its token changes`() throws {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", .database(recordType: nil))
    rig.change(.record(.created))
    let first = try #require(rig.wake().first)
    #expect(!rig.partition.subject(of: first).hasTaken)
    rig.ended(first, .delivered)
    rig.change(.record(.updated))
    let second = try #require(rig.wake().first)
    #expect(rig.partition.subject(of: second).hasTaken)
    #expect(rig.partition.subject(of: second).user == second.device.user)
    rig.ended(second, .later(after: nil, .device, .init("x")))
    rig.register(1, address: Sample.address(9))
    let third = try #require(rig.wake().first)
    #expect(!rig.partition.subject(of: third).hasTaken)
  }

  /// A quarantined device keeps all that pends. A new token of the device is tried at once.
  @Test func `a new token ends a device's quarantine without loss of notifications`() throws {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("all", .database(recordType: nil))
    rig.change(.record(.created))
    let first = try #require(rig.wake().first)
    rig.ended(first, .later(after: .hours(6), .quarantine, .init("quarantined: Unregistered")))
    #expect(rig.wake(after: 60).isEmpty)
    rig.register(1, address: Sample.address(9))
    let second = try #require(rig.wake().first)
    #expect(second.address == Sample.address(9) && rig.partition.ledger.pending == 1)
    rig.ended(second, .delivered)
    #expect(rig.partition.ledger.isBalanced && rig.partition.ledger.retired == 0)
  }
}
