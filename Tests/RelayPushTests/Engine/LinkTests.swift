import RelayCore
import Testing

@testable import RelayPush

@Suite struct LinkTests {
  private let limits = EngineLimits.test
  private func at(_ milliseconds: Int64) -> Uptime { Uptime(milliseconds: milliseconds) }

  private func open(probation: Bool = false) -> Link {
    var link = Link(at: at(0), limits: limits, probation: probation)
    link.opened(at: at(0))
    return link
  }

  /// APNs allows one stream until it has accepted the credential.
  @Test func `a connection allows one stream until the first authenticated answer`() {
    var link = open(probation: true)
    link.allowed(1_000)
    #expect(link.room == 1)
    link.began(at: at(1))
    #expect(link.room == 0)
    link.ended(proof: false)
    #expect(link.room == 1)
    link.began(at: at(2))
    link.ended(proof: true)
    #expect(link.room == limits.streamsMax)
  }

  @Test func `the lower of the provider's limit and our own limits the streams`() {
    var link = open()
    #expect(link.room == 100)
    link.allowed(3)
    (0..<3).forEach { _ in link.began(at: at(1)) }
    #expect(link.room == 0)
    link.allowed(2)
    link.ended(proof: true)
    #expect(link.room == 0)
    link.ended(proof: true)
    #expect(link.room == 1)
    link.allowed(Int(UInt32.max))
    #expect(link.room == limits.streamsMax - 1)
    link.allowed(0)
    #expect(link.room == 0)
  }

  @Test func `a connection with open requests is pinged sooner than an idle one`() {
    var link = open()
    #expect(link.nextTimer == at(0) + limits.idlePing)
    link.began(at: at(100))
    #expect(link.nextTimer == at(100) + limits.stallAfter)
    link.heard(at: at(150))
    #expect(link.timerFired(at: at(100) + limits.stallAfter) == .none)
    let stalled = at(150) + limits.stallAfter
    #expect(link.timerFired(at: stalled) == .ping)
    #expect(link.room == 0)
    #expect(link.timerFired(at: stalled + limits.pongWithin) == .close(.silent))
  }

  @Test func `any received byte counts as a pong`() {
    var link = open()
    let idle = at(0) + limits.idlePing
    #expect(link.timerFired(at: idle) == .ping)
    link.heard(at: idle)
    #expect(link.room > 0)
    #expect(link.timerFired(at: idle + limits.pongWithin) == .none)
    #expect(link.nextTimer == idle + limits.idlePing)
  }

  @Test func `a connection that does not open in time is closed`() {
    var link = Link(at: at(0), limits: limits, probation: true)
    #expect(link.room == 0)
    #expect(link.timerFired(at: at(0) + limits.connectTimeout) == .close(.connectTimeout))
  }

  @Test func `a draining connection takes no new request and is still pinged`() {
    var link = open()
    link.began(at: at(0))
    link.drain()
    #expect(link.isDraining)
    #expect(link.room == 0)
    let stalled = at(0) + limits.stallAfter
    #expect(link.timerFired(at: stalled) == .ping)
    #expect(link.isDraining)
    link.heard(at: stalled)
    #expect(link.isDraining)
    #expect(link.room == 0)
  }
}

extension EngineLimits {
  /// Limits with small numbers, each of them different from the others.
  static var test: EngineLimits {
    var limits = EngineLimits()
    limits.connections = 2
    limits.streamsMax = 200
    limits.connectTimeout = Span(milliseconds: 5_000)
    limits.idlePing = Span(milliseconds: 60_000)
    limits.stallAfter = Span(milliseconds: 3_000)
    limits.pongWithin = Span(milliseconds: 1_000)
    limits.reconnectFirst = Span(milliseconds: 100)
    limits.reconnectMax = Span(milliseconds: 1_600)
    return limits
  }
}
