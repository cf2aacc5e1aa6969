import Crypto
import Foundation
import NIOSSL
import Synchronization
import X509

/// The one provider behind all connections: counts connections and requests, and judges requests.
final class FakeAPNs: FakeProvider {
  private let settings: StandinSettings
  private let clientAuthority: Certificate?
  private let state: Mutex<State>

  private struct State {
    var tokens: ProviderTokens
    var connections = 0
    var begun = 0
  }

  init(
    _ settings: StandinSettings, key: P256.Signing.PublicKey, clientAuthority: Certificate?
  ) {
    self.clientAuthority = clientAuthority
    self.settings = settings
    state = Mutex(
      State(
        tokens: ProviderTokens(key: key, keyID: settings.keyID, teamID: settings.teamID)))
  }

  func maxStreams(under faults: Faults) -> Int { faults.maxStreams ?? settings.maxStreams }

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
  func requestBegan(under faults: Faults) -> Bool {
    let every = faults.goawayEvery ?? settings.goawayEvery
    return state.withLock {
      $0.begun += 1
      guard let every else { return false }
      return $0.begun.isMultiple(of: every)
    }
  }

  var logOrder: [String]? {
    ["time", "connection", "path", "headers", "payload", "status", "reason"]
  }

  func record(of request: PushRequest) -> [String: Any] {
    ["connection": request.connection, "payload": request.payload ?? NSNull()]
  }

  func answer(
    _ request: PushRequest, number: Int, under faults: Faults, at milliseconds: Int64
  ) -> FakeAnswer {
    if faults.isSilent { return .silence }
    if let every = faults.hangUpEvery, number.isMultiple(of: every) {
      return FakeAnswer(action: .hangUp, reason: "HangUp")
    }
    if let every = faults.resetEvery ?? settings.resetEvery, number.isMultiple(of: every) {
      return FakeAnswer(action: .reset, reason: "Reset")
    }
    let refusal =
      PushRules.route(request)
      ?? credential(request, at: milliseconds)
      ?? PushRules.content(request)
    if let refusal { return answer(request, refusal) }
    let token = request.deviceToken ?? ""
    if let fault = faults.answer(topic: request.header("apns-topic"), token: token) {
      return answer(
        request, fault.reason, timestamp: fault.timestamp(at: milliseconds),
        retryAfter: fault.retryAfter)
    }
    let behavior = DeviceBehavior(token: token)
    if !behavior.isKnown(in: settings.environment) { return answer(request, .badDeviceToken) }
    if let refusal = behavior.refusal {
      return answer(request, refusal, timestamp: refusal == .unregistered ? milliseconds : nil)
    }
    if behavior == .mute { return .silence }
    var accepted = answer(request)
    accepted.delay = max(behavior.delay, faults.slow ?? 0)
    return accepted
  }

  /// - Parameters:
  ///   - refusal: nil if the push is accepted.
  ///   - timestamp: in milliseconds; only for reasons that Apple gives with a time.
  private func answer(
    _ request: PushRequest, _ refusal: APNsReason? = nil, timestamp: Int64? = nil,
    retryAfter: Int? = nil
  ) -> FakeAnswer {
    let id = request.header("apns-id") ?? UUID().uuidString.lowercased()
    var answer = FakeAnswer(
      status: refusal?.status ?? 200, headers: [("apns-id", id)], reason: refusal?.rawValue
    ).retry(after: retryAfter)
    if let refusal {
      let date = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
      answer.body = "{\"reason\":\"\(refusal.rawValue)\"\(date)}"
      answer.headers.append(("content-type", "application/json"))
    }
    return answer
  }

  /// Checks the connection's certificate, which authenticates all requests of the connection.
  /// Without a certificate, every request needs a provider token.
  private func credential(_ request: PushRequest, at milliseconds: Int64) -> APNsReason? {
    if let certificate = request.certificate {
      return certificate.check(
        topic: request.header("apns-topic"), environment: settings.environment)
    }
    return state.withLock {
      $0.tokens.check(request.header("authorization"), at: milliseconds / 1_000)
    }
  }
}
