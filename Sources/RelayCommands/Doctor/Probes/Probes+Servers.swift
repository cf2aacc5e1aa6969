import Foundation
import RelayCore
import RelayCurl
import RelayFeedback
import RelayHTTP
import RelayPush

/// Looks at the servers that the configuration names: whether they have an address, take a
/// connection and show a good certificate.
extension Probes {
  /// What a server is used for, its URL, and the file of authorities to trust for it.
  typealias Server = (use: String, url: String, trustRoots: String?)

  mutating func servers() async -> [Finding] {
    guard let settings else { return [] }
    let named = Self.servers(of: settings)
    if !named.isEmpty { say("connecting to providers and webhooks") }
    var found: [Finding] = []
    for evidence in await connections(to: named) {
      if case .failure = evidence.outcome { unreachable.insert(evidence.place) }
      found.append(evidence.finding)
    }
    for evidence in await keySets(of: settings) { found += evidence.findings }
    if let evidence = await publicURL(of: settings) {
      if case .relay = evidence.outcome { hasPublicURL = true }
      found.append(evidence.finding)
    }
    return found
  }

  /// The providers and webhooks. Not among them are account servers, whose key sets are fetched,
  /// and browsers' push services, which the configuration does not name.
  private static func servers(of settings: Settings) -> [Server] {
    settings.apps.flatMap { app -> [Server] in
      var servers: [Server] = []
      for route in app.apns {
        for endpoint in [route.endpoint, route.otherEndpoint].compactMap(\.self) {
          servers.append(("apns \(route.topic)", endpoint.url, route.trustRoots))
        }
      }
      if let fcm = app.fcm {
        let name = "fcm \(fcm.project)"
        servers.append((name, "https://\(fcm.host):\(fcm.port)", fcm.trustRoots))
        // Cannot fail: this file was already read as an account when the configuration was read.
        if let account = try? ServiceAccount(json: fcm.serviceAccount.bytes) {
          servers.append(("tokens of \(name)", account.tokenURL, fcm.trustRoots))
        }
      }
      if let webhook = app.feedback {
        servers.append(("webhook of \(app.scope.text)", webhook.url, webhook.trustRoots))
      }
      return servers
    }
  }

  /// Tries all servers at once. The evidence is in the order of the configuration, each server
  /// once.
  private func connections(to servers: [Server]) async -> [ServerEvidence] {
    var seen: Set<String> = []
    let servers = servers.filter { seen.insert(HTTPRequest("GET", $0.url).place).inserted }
    return await Self.answers(to: servers) { [client] server in
      let request = HTTPRequest(
        "GET", server.url, timeout: Self.timeout, trustRoots: server.trustRoots)
      let outcome: Result<ConnectTimes, ClientError>
      do throws(ClientError) {
        outcome = .success(try await client.connect(request))
      } catch {
        outcome = .failure(error)
      }
      return ServerEvidence(use: server.use, place: request.place, outcome: outcome)
    }
  }

  /// Fetches the key sets as the daemon does: each address once, and all at the same time.
  private func keySets(of settings: Settings) async -> [KeySetEvidence] {
    var seen: Set<KeySetAddress> = []
    let sets = settings.apps.compactMap { app -> (use: String, KeySetAddress)? in
      guard case .keySetURL(let address) = app.users.proof, seen.insert(address).inserted else {
        return nil
      }
      return ("keys of users in \(app.scope.text)", address)
    }
    if !sets.isEmpty { say("asking for the keys of users") }
    return await Self.answers(to: sets) { use, address in await keySet(at: address, for: use) }
  }

  private func keySet(at address: KeySetAddress, for use: String) async -> KeySetEvidence {
    let request = AccountServer.request(address)
    var evidence = KeySetEvidence(use: use, place: request.place, outcome: .keys(0))
    do throws(ClientError) {
      let answer = try await HTTPClient(answerBytesMax: AccountServer.bytesMax).send(request)
      evidence.outcome = Self.keys(in: answer)
      evidence.time = serverTime(answer.serverSeconds, of: request.place)
    } catch {
      evidence.outcome = .failed(error)
    }
    return evidence
  }

  private static func keys(in answer: HTTPAnswer) -> KeySetEvidence.Outcome {
    guard answer.status == 200 else {
      return .unusable("it answered with status \(answer.status)")
    }
    do throws(KeySet.Unreadable) {
      let set = try KeySet(answer.body)
      guard set.keys.isEmpty else { return .keys(set.keys.count) }
      let why = set.problems.isEmpty ? "" : ": \(set.problems.joined(separator: "; "))"
      return .unusable("it lists no key for ES256, RS256 or EdDSA\(why)")
    } catch {
      return .unusable("the answer \(error.reason)")
    }
  }

  func serverTime(_ seconds: Int64?, of server: String) -> ServerTime? {
    seconds.map {
      ServerTime(server: server, time: Instant(milliseconds: $0 * 1_000), own: now)
    }
  }

  private func publicURL(of settings: Settings) async -> PublicURLEvidence? {
    guard let url = settings.server.publicURL, isRunning else { return nil }
    do throws(ClientError) {
      let clock = ContinuousClock()
      let begin = clock.now
      let answer = try await client.send(
        HTTPRequest("GET", "\(url)/health/live", timeout: Self.timeout))
      // An answer whose body is no JSON does not come from a relay.
      let isRelay = answer.status == 200 && (try? LooseJSON(body: answer.body)["live"].bool) == true
      return PublicURLEvidence(
        url: url,
        outcome: isRelay
          ? .relay(took: clock.now - begin)
          : .other("/health/live was answered \(answer.status), and not by a relay"))
    } catch {
      return PublicURLEvidence(url: url, outcome: .other(error.message))
    }
  }

  /// Sends the preflight that a browser sends before a request of a page with a listed origin.
  func origins() async -> [OriginEvidence] {
    guard let settings, let address = DaemonAddress(settings, listening: elsewhere) else {
      return []
    }
    var found: [OriginEvidence] = []
    for app in settings.apps {
      for origin in app.origins {
        let path = "/device/1/\(app.scope.container)/\(app.scope.environment.name)/tokens/register"
        var request =
          hasPublicURL
          ? HTTPRequest("OPTIONS", (settings.server.publicURL ?? "") + path)
          : address.request("OPTIONS", path)
        request.headers = [
          (name: "Origin", value: origin),
          (name: "Access-Control-Request-Method", value: "POST"),
          (name: "Access-Control-Request-Headers", value: "authorization"),
        ]
        let refusal = await refusal(of: request, origin)
        found.append(OriginEvidence(origin: origin, scope: app.scope.text, refusal: refusal))
      }
    }
    return found
  }

  /// Why a preflight was refused; nil if it was not.
  private func refusal(of preflight: HTTPRequest, _ origin: String) async -> String? {
    do throws(ClientError) {
      let answer = try await client.send(preflight)
      let allowed = answer.header("access-control-allow-origin")
      return answer.isSuccess && allowed == origin
        ? nil : "the daemon answered its preflight with \(answer.status)"
    } catch {
      return error.message
    }
  }
}
