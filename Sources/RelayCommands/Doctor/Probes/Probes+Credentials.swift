import Foundation
import Logging
import NIOPosix
import RelayCore
import RelayCurl
import RelayPush

/// Tries each credential with the provider that it is for.
extension Probes {
  func credentials() async -> [Finding] {
    guard let settings else { return [] }
    var questions: [Question] = []
    for app in settings.apps {
      for route in app.apns { questions.append(await apns(route, of: app.scope, settings)) }
      if let fcm = app.fcm { questions.append { await self.fcm(fcm, of: app.scope) } }
      if let web = app.webPush { questions.append { webPush(web, of: app.scope) } }
    }
    return await Self.answers(to: questions) { await $0() }.flatMap(\.findings)
  }

  /// What a provider is asked about one credential.
  typealias Question = @Sendable () async -> CredentialEvidence

  /// Asks all servers at the same time, because a server that does not answer takes the whole
  /// timeout. The answers are in the order of the questions.
  static func answers<Asked: Sendable, Answer: Sendable>(
    to questions: [Asked], _ ask: @escaping @Sendable (Asked) async -> Answer
  ) async -> [Answer] {
    await withTaskGroup(of: (Int, Answer).self) { group in
      for (index, asked) in questions.enumerated() {
        group.addTask { (index, await ask(asked)) }
      }
      return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private static let quiet = Logger(label: "zonerelay.doctor") { _ in SwiftLogNoOpLogHandler() }

  private var engineLimits: EngineLimits {
    EngineLimits(
      attemptTimeout: Span(milliseconds: Int64(Self.timeout / .milliseconds(1))),
      probe: .seconds(1))
  }

  /// Prepares the push of one route. Provider tokens are prepared one after the other: routes with
  /// one key share a token, and Apple refuses a second one for 20 minutes.
  private func apns(
    _ route: Settings.APNs, of scope: Scope, _ settings: Settings
  ) async -> Question {
    let name = "apns \(route.topic) of \(scope.text)"
    func evidence(_ outcome: CredentialEvidence.Outcome) -> Question {
      { CredentialEvidence(route: name, outcome: outcome) }
    }
    do {
      let made = try APNsSettings(route, limits: engineLimits)
      if case .certificate(let files) = route.credential,
        let problem = made.certificate?.misfit(files.certificate, at: now)
      {
        return evidence(.expired(problem))
      }
      if let obstacle = obstacle(to: route.endpoint.url) { return evidence(obstacle) }
      var credential: APNsCredential?
      if case .key(let key) = made.credential {
        let directory = Settings.providerTokens(in: settings.store.directory)
        guard access(directory, R_OK | W_OK | X_OK) == 0 else {
          return evidence(
            .skipped(
              "a provider token of the doctor could not be kept for the daemon, and Apple would "
                + "refuse the daemon's own for 20 minutes",
              remedy: "start the daemon once, and run the doctor as root or as the daemon's user"))
        }
        credential = try await APNsCredential(key, keptIn: directory)
      }
      let prepared = credential
      return {
        say("asking Apple about \(name)")
        return await told(name, at: route.endpoint.url, { .apns($0) }) {
          try await APNsProbe.ask(
            made, credential: prepared, group: MultiThreadedEventLoopGroup.singleton,
            logger: Self.quiet, at: now)
        }
      }
    } catch {
      return evidence(.apns(ProbeAnswer(.unanswered("\(Failure(error).message)"))))
    }
  }

  /// What a provider answers. An error counts as no answer.
  private func told(
    _ name: String, at place: String, _ outcome: (ProbeAnswer) -> CredentialEvidence.Outcome,
    _ ask: () async throws -> ProbeAnswer
  ) async -> CredentialEvidence {
    let answer: ProbeAnswer
    do {
      answer = try await ask()
    } catch {
      answer = ProbeAnswer(.unanswered("\(Failure(error).message)"))
    }
    return CredentialEvidence(
      route: name, outcome: outcome(answer),
      time: serverTime(answer.date.map { $0.milliseconds / 1_000 }, of: place))
  }

  private func fcm(_ fcm: Settings.FCM, of scope: Scope) async -> CredentialEvidence {
    let name = "fcm \(fcm.project) of \(scope.text)"
    let place = "https://\(fcm.host):\(fcm.port)"
    let settings = Result { try FCMSettings(fcm, limits: engineLimits) }
    if case .success = settings, let obstacle = obstacle(to: place) {
      return CredentialEvidence(route: name, outcome: obstacle)
    }
    return await told(name, at: place, { .fcm($0) }) {
      say("asking Google about \(name)")
      return try await FCMProbe.ask(
        try settings.get(), group: MultiThreadedEventLoopGroup.singleton, logger: Self.quiet,
        at: now)
    }
  }

  private func webPush(_ web: Settings.WebPush, of scope: Scope) -> CredentialEvidence {
    let outcome: Result<String, PushProblem>
    do throws(PushProblem) {
      let made = try WebPushSettings(web, attemptTimeout: .seconds(10))
      try WebPushKeyPair.check(pem: web.key.text, made)
      outcome = .success(made.publicKey)
    } catch {
      outcome = .failure(error)
    }
    return CredentialEvidence(route: "webpush of \(scope.text)", outcome: .webPush(outcome))
  }

  /// Why a provider is not asked; nil if it is.
  private func obstacle(to place: String) -> CredentialEvidence.Outcome? {
    if isOffline { return .skipped("--offline: nothing is asked over the network", remedy: nil) }
    guard unreachable.contains(HTTPRequest("GET", place).place) else { return nil }
    return .skipped("its provider takes no connection", remedy: nil)
  }
}
