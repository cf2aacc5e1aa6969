import Crypto
import Foundation
import NIOSSL
import Synchronization
import X509

/// The one provider behind all connections: counts requests, judges them, writes the log.
final class FakeAPNs: Sendable {
  private let settings: StandinSettings
  private let log: PushLog
  private let board: FaultBoard
  private let clientAuthority: Certificate?
  private let state: Mutex<State>

  private struct State {
    var tokens: ProviderTokens
    var connections = 0
    var begun = 0
    var received = 0
  }

  init(
    _ settings: StandinSettings, key: P256.Signing.PublicKey, clientAuthority: Certificate?,
    log: PushLog, board: FaultBoard
  ) {
    self.clientAuthority = clientAuthority
    self.settings = settings
    self.log = log
    self.board = board
    state = Mutex(
      State(
        tokens: ProviderTokens(key: key, keyID: settings.keyID, teamID: settings.teamID)))
  }

  var maxStreams: Int { board.faults.maxStreams ?? settings.maxStreams }

  /// Counts a new connection and returns its number.
  func connectionOpened() -> Int {
    state.withLock {
      $0.connections += 1
      return $0.connections
    }
  }

  /// Judges a connection's certificate.
  func look(at certificate: NIOSSLCertificate) -> PresentedCertificate {
    PresentedCertificate(certificate, authority: clientAuthority)
  }

  /// Counts a request that begins, and returns true if a GOAWAY refuses the request.
  func requestBegan() -> Bool {
    let every = board.faults.goawayEvery ?? settings.goawayEvery
    return state.withLock {
      $0.begun += 1
      guard let every else { return false }
      return $0.begun.isMultiple(of: every)
    }
  }

  /// Judges a complete request and logs it before the sender gets an answer.
  func answer(_ request: PushRequest) throws -> PushAnswer {
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let faults = board.faults
    let answer = state.withLock { judge(request, &$0, faults, at: now) }
    try log.append(request, answer, at: now)
    return answer
  }

  private func judge(
    _ request: PushRequest, _ state: inout State, _ faults: Faults, at milliseconds: Int64
  ) -> PushAnswer {
    state.received += 1
    if faults.isSilent { return .silence }
    if let every = faults.hangUpEvery, state.received.isMultiple(of: every) { return .hangUp }
    if let every = faults.resetEvery ?? settings.resetEvery, state.received.isMultiple(of: every) {
      return .reset
    }
    let refusal =
      PushRules.route(request)
      ?? credential(request, &state, at: milliseconds)
      ?? PushRules.content(request)
    if let refusal { return .refused(refusal, timestamp: nil) }
    let token = request.deviceToken ?? ""
    if let fault = faults.answer(topic: request.header("apns-topic"), token: token) {
      return .refused(
        fault.reason, timestamp: fault.timestamp(at: milliseconds), retryAfter: fault.retryAfter)
    }
    let conduct = DeviceBehavior(token: token)
    if !conduct.isKnown(in: settings.environment) {
      return .refused(.badDeviceToken, timestamp: nil)
    }
    if let refusal = conduct.refusal {
      return .refused(refusal, timestamp: refusal == .unregistered ? milliseconds : nil)
    }
    switch conduct {
    case .slow: return .late(max(StandinSettings.slowSeconds * 1_000, faults.slow ?? 0))
    case .mute: return .silence
    case .ordinary, .dead, .gone, .busy, .fail, .development, .production:
      return faults.slow.map { .late($0) } ?? .accepted
    }
  }

  /// Checks the connection's certificate, which authenticates all requests of the connection.
  /// Without a certificate, every request needs a provider token.
  private func credential(
    _ request: PushRequest, _ state: inout State, at milliseconds: Int64
  ) -> APNsReason? {
    if let certificate = request.certificate {
      return certificate.check(
        topic: request.header("apns-topic"), environment: settings.environment)
    }
    return state.tokens.check(request.header("authorization"), at: milliseconds / 1_000)
  }
}
