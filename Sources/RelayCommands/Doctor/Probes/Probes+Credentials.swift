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
      if let fcm = app.fcm {
        questions.append { await self.fcm(fcm, of: app.scope) }
      }
      if let web = app.webPush { questions.append { webPush(web, of: app.scope) } }
    }
    return await Self.answers(to: questions).flatMap(\.findings)
  }

  /// What a provider is asked about one credential.
  typealias Question = @Sendable () async -> CredentialEvidence

  /// Asks all providers at the same time, because one that is silent takes as long as it may. The
  /// answers are in the order of the questions.
  static func answers(to questions: [Question]) async -> [CredentialEvidence] {
    await withTaskGroup(of: (Int, CredentialEvidence).self) { group in
      for (index, ask) in questions.enumerated() { group.addTask { (index, await ask()) } }
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
        guard let directory = tokenDirectory(settings) else {
          return evidence(
            .skipped(
              "a provider token of the doctor could not be kept for the daemon, and Apple would "
                + "refuse the daemon's own for 20 minutes",
              remedy: "start the daemon once, and run the doctor as root or as the daemon's user"))
        }
        credential = try await APNsCredential(key, keptIn: directory)
      }
      let prepared = credential
      return { await ask(made, prepared, name, at: route.endpoint.url) }
    } catch {
      return evidence(.apns(ProbeAnswer(.unanswered("\(Failure(error).message)"))))
    }
  }

  private func ask(
    _ made: APNsSettings, _ credential: APNsCredential?, _ name: String, at url: String
  ) async -> CredentialEvidence {
    say("asking Apple about \(name)")
    do {
      let answer = try await APNsProbe.ask(
        made, credential: credential, group: MultiThreadedEventLoopGroup.singleton,
        logger: Self.quiet, at: now)
      return told(answer, .apns(answer), of: name, at: url)
    } catch {
      return CredentialEvidence(
        route: name, outcome: .apns(ProbeAnswer(.unanswered("\(Failure(error).message)"))))
    }
  }

  /// Where the daemon keeps provider tokens; nil if this user cannot keep one there.
  private func tokenDirectory(_ settings: Settings) -> String? {
    let directory = Settings.providerTokens(in: settings.store.directory)
    return access(directory, R_OK | W_OK | X_OK) == 0 ? directory : nil
  }

  private func fcm(_ fcm: Settings.FCM, of scope: Scope) async -> CredentialEvidence {
    let name = "fcm \(fcm.project) of \(scope.text)"
    do {
      let made = try FCMSettings(fcm, limits: engineLimits)
      let place = "https://\(fcm.host):\(fcm.port)"
      if let obstacle = obstacle(to: place) {
        return CredentialEvidence(route: name, outcome: obstacle)
      }
      say("asking Google about \(name)")
      let answer = try await FCMProbe.ask(
        made, group: MultiThreadedEventLoopGroup.singleton, logger: Self.quiet, at: now)
      return told(answer, .fcm(answer), of: name, at: place)
    } catch {
      return CredentialEvidence(
        route: name, outcome: .fcm(ProbeAnswer(.unanswered("\(Failure(error).message)"))))
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
    if isOffline {
      return .skipped("--offline: nothing is asked over the network", remedy: nil)
    }
    guard unreachable.contains(HTTPRequest("GET", place).place) else { return nil }
    return .skipped("its provider takes no connection", remedy: nil)
  }

  private func told(
    _ answer: ProbeAnswer, _ outcome: CredentialEvidence.Outcome, of name: String, at place: String
  ) -> CredentialEvidence {
    CredentialEvidence(
      route: name, outcome: outcome,
      time: serverTime(answer.date.map { $0.milliseconds / 1_000 }, of: place))
  }
}
