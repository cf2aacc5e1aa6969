import Foundation
import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct ControlTests {
  @Test func `status has the keys of the contract and can be decoded`() async throws {
    let rig = await Rig()
    rig.relay.behave { conduct in
      conduct.health.store.engine = "sqlite"
      conduct.health.ledger.matched = 3
      conduct.health.ledger.woken = 2
      conduct.health.ledger.pending = 1
      conduct.health.routes = [
        HealthSnapshot.RouteHealth(
          key: RouteKey(scope: Rig.scope, transport: .apns, topic: "com.example.notes"),
          circuit: "closed", inFlight: 1, sent: 2, delivered: 1, lastError: nil)
      ]
    }
    let answer = try await rig.send(.get, "/status", control: true)
    #expect(answer.status == 200)
    #expect(answer.headers[.cacheControl] == "no-store")
    let report = try JSONDecoder().decode(StatusReport.self, from: Data(answer.text.utf8))
    #expect(report.healthy && report.ledger.balanced && report.version == "0.1.0")
    #expect(report.routes.first?.environment == "development")
    let keys = [
      "version", "pid", "uptime", "healthy", "reasons", "store", "ledger", "changes", "lanes",
      "routes", "fanouts", "oldestPendingAge", "remembered", "webhooks",
    ]
    #expect(Set(try answer.json.members().map(\.key)) == Set(keys))
  }

  @Test func `a ledger that does not balance makes status unhealthy`() async throws {
    let rig = await Rig()
    rig.relay.behave { $0.health.ledger.matched = 1 }
    let answer = try await rig.send(.get, "/status", control: true)
    #expect(try !answer.json.required("healthy").boolean())
    #expect(try answer.json.required("reasons").elements().count == 1)
    #expect(try !answer.json.required("ledger").required("balanced").boolean())
    let metrics = try await rig.send(.get, "/metrics", control: true).text
    #expect(metrics.contains("\nzonerelay_healthy 0\n"))
  }

  @Test func `devices are shown without their tokens`() async throws {
    let rig = await Rig()
    for (client, user) in [(Rig.phone, "_abc"), (Rig.tablet, "_def")] {
      let token = client == Rig.phone ? "00ff" : "00fe"
      let body =
        #"{"apnsEnvironment":"development","apnsToken":"\#(token)","clientId":"\#(client)"}"#
      _ = try await rig.device("tokens/register", body, as: user)
      _ = try await rig.device("tokens/list", as: user)
    }
    let all = try await rig.send(.get, "/devices", control: true)
    let report = try JSONDecoder().decode(DevicesReport.self, from: Data(all.text.utf8))
    #expect(report.devices.map(\.clientId) == [Rig.phone, Rig.tablet])
    #expect(report.devices[0].tokenDigest == Hex.text(rig.keys.digest([0, 255]).prefix(4)))
    #expect(report.devices[0].state == "active" && report.devices[0].lane == "idle")
    #expect(!all.text.contains("00ff\""))
    for query in ["?user=_def", "?client=\(Rig.tablet)", "?user=_def&client=\(Rig.tablet)"] {
      let some = try await rig.send(.get, "/devices\(query)", control: true)
      #expect(try some.each("devices", "clientId") == [Rig.tablet])
    }
    let none = try await rig.send(.get, "/devices?user=_abc&client=\(Rig.tablet)", control: true)
    #expect(none.text == #"{"devices":[]}"#)
    let broken = try await rig.send(.get, "/devices?user=%ff", control: true)
    #expect(broken.text == #"{"devices":[]}"#)
    for client in ["x", "%ff", "%zz"] {
      #expect(try await rig.send(.get, "/devices?client=\(client)", control: true).status == 400)
    }
  }

  @Test func `a device is forgotten as if its app had signed out`() async throws {
    let rig = await Rig()
    for (client, token) in [(Rig.phone, "00ff"), (Rig.tablet, "00fe")] {
      let body =
        #"{"apnsEnvironment":"development","apnsToken":"\#(token)","clientId":"\#(client)"}"#
      _ = try await rig.device("tokens/register", body)
    }
    _ = try await rig.device("tokens/list")
    let body = #"{"client":"\#(Rig.tablet)"}"#
    let answer = try await rig.send(.post, "/devices/forget", body, control: true)
    #expect(answer.status == 200 && answer.text == #"{"forgotten":1}"#)
    _ = try await rig.device("tokens/list")
    let left = try await rig.send(.get, "/devices", control: true)
    #expect(try left.each("devices", "clientId") == [Rig.phone])
    #expect(try await rig.send(.post, "/devices/forget", body, control: true).status == 404)
    for wrong in ["{}", #"{"client":"x"}"#] {
      #expect(try await rig.send(.post, "/devices/forget", wrong, control: true).status == 400)
    }
    #expect(try await rig.send(.get, "/devices/forget", control: true).status == 405)
  }

  /// The state has the name that `status` uses.
  @Test func `the device list shows the state of each lane`() async throws {
    let rig = await Rig()
    let body =
      #"{"apnsEnvironment":"development","apnsToken":"00ff","clientId":"\#(Rig.phone)"}"#
    _ = try await rig.device("tokens/register", body)
    try await rig.create(["A1"])
    let info = #""notificationInfo":{"shouldSendContentAvailable":true}"#
    try await rig.subscribe(#""subscriptionType":"zone",\#(Rig.zone()),\#(info)"#)
    _ = try await rig.device("tokens/list")
    let idle = try await rig.send(.get, "/devices", control: true)
    #expect(try idle.each("devices", "lane") == ["idle"])
    try await rig.create(["A2"])
    _ = try await rig.device("tokens/list")
    let due = try await rig.send(.get, "/devices", control: true)
    #expect(try due.each("devices", "lane") == ["due"])
  }

  @Test func `a truncated list of devices reports that more exist`() async throws {
    var limits = Rig.atOnce
    limits.devicesListed = 2
    let rig = await Rig(limits: limits)
    for (number, more) in [(1, nil), (2, nil), (3, true)] as [(Int, Bool?)] {
      _ = try await rig.device(
        "tokens/register", #"{"apnsEnvironment":"development","apnsToken":"0\#(number)"}"#)
      _ = try await rig.device("tokens/list")
      let answer = try await rig.send(.get, "/devices", control: true)
      let report = try JSONDecoder().decode(DevicesReport.self, from: Data(answer.text.utf8))
      #expect(report.devices.count == min(number, 2))
      #expect(report.moreComing == more)
    }
  }

  @Test func `the relay expires the tokens of the named user`() async throws {
    let rig = await Rig()
    let body = #"{"container":"\#(Rig.container)","environment":"development","user":"_abc"}"#
    #expect(try await rig.send(.post, "/expire-tokens", body, control: true).text == "{}")
    #expect(
      rig.relay.seen.facts == [
        .expireTokens(
          TokenExpiry(container: Rig.container, environment: .development, user: UserID("_abc")))
      ])
    for bad in [
      "[]", "{", #"{"environment":"x"}"#, #"{"user":7}"#, #"{"user":""}"#, #"{"User":"_abc"}"#,
    ] {
      #expect(try await rig.send(.post, "/expire-tokens", bad, control: true).status == 400)
    }
    rig.relay.behave { $0.refusal = .draining }
    #expect(try await rig.send(.post, "/expire-tokens", control: true).status == 503)
  }

  /// The request names a scope that is not configured, and would expire nothing. After a restore,
  /// an operator must not think that tokens have expired.
  @Test(arguments: [
    #"{"container":"iCloud.com.example.note"}"#, #"{"environment":"production"}"#,
    #"{"container":"\#(Rig.container)","environment":"production"}"#, #"{"container":""}"#,
  ])
  func `an unknown scope is refused with a list of the configured scopes`(body: String)
    async throws
  {
    let rig = await Rig()
    let answer = try await rig.send(.post, "/expire-tokens", body, control: true)
    #expect(answer.status == 404)
    #expect(answer.text.contains("\(Rig.container) development"))
    #expect(rig.relay.seen.facts.isEmpty)
  }

  @Test func `a drain request starts draining`() async throws {
    let rig = await Rig()
    #expect(try await rig.send(.post, "/drain", control: true).text == #"{"draining":true}"#)
    #expect(rig.relay.seen.isDraining)
  }

  @Test func `the control socket refuses unknown paths and wrong methods`() async throws {
    let rig = await Rig()
    #expect(try await rig.send(.get, "/other", control: true).status == 404)
    let wrong = try await rig.send(.get, "/drain", control: true)
    #expect(wrong.status == 405)
    #expect(wrong.headers[.allow] == "POST")
    for path in ["/status", "/devices", "/feedback", "/metrics"] {
      #expect(try await rig.send(.head, path, control: true).status == 200)
      let refused = try await rig.send(.put, path, control: true)
      #expect(refused.status == 405 && refused.headers[.allow] == "GET, HEAD")
    }
  }

  /// Checks every line of the answer against Prometheus' text format.
  @Test func `metrics are well formed and have a type and known labels`() async throws {
    let rig = await Rig()
    rig.relay.behave { conduct in
      for topic in ["a", "b"] {
        let key = RouteKey(scope: Rig.scope, transport: .apns, topic: topic)
        var route = HealthSnapshot.RouteHealth(
          key: key, circuit: "open", inFlight: 0, sent: 2, delivered: 1, lastError: nil)
        route.sender.connections = 2
        route.sender.unknownAnswers = 3
        conduct.health.routes.append(route)
        route.key.topic += ".gone"
        conduct.health.withdrawnRoutes.append(route)
      }
      conduct.health.recorder.lost = 5
    }
    let answer = try await rig.send(.get, "/metrics", control: true)
    #expect(answer.headers[.contentType]?.hasPrefix("text/plain; version=0.0.4") == true)
    let labels = ["container", "environment", "transport", "outcome", "reason"]
    var typed: Set<String> = []
    for line in answer.text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 3)
      if line.hasPrefix("# TYPE ") {
        typed.insert(String(words[2]))
        #expect(words[3] == "counter" || words[3] == "gauge")
      } else if !line.hasPrefix("# HELP ") {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        #expect(name.hasPrefix("zonerelay_") && typed.contains(name))
        #expect(Double(line.split(separator: " ").last ?? "") != nil)
        for label in line.matches(of: /[{,](\w+)="/).map(\.output.1) {
          #expect(labels.contains(String(label)), "\(line)")
        }
      }
    }
    #expect(typed.count >= 20)
    let label = #"{container="\#(Rig.container)",environment="development",transport="apns"}"#
    #expect(answer.text.contains("zonerelay_pushes_sent_total\(label) 8\n"))
    #expect(answer.text.contains("zonerelay_routes_stopped\(label) 2\n"))
    #expect(answer.text.contains("zonerelay_provider_connections\(label) 4\n"))
    #expect(answer.text.contains("zonerelay_pushes_unknown_answers_total\(label) 12\n"))
    #expect(answer.text.contains("\nzonerelay_open_files 0\n"))
    #expect(answer.text.contains("\nzonerelay_trace_entries_lost_total 5\n"))
  }

  /// Monitoring shows the help of one metric alone.
  @Test func `the help of a metric does not refer to another metric`() async throws {
    let answer = try await Rig().send(.get, "/metrics", control: true)
    let help = answer.text.split(separator: "\n").filter { $0.hasPrefix("# HELP ") }
    #expect(help.count >= 20)
    for line in help { #expect(!line.contains(" them"), "\(line)") }
    let lag = "store_fold_lag_seconds Time since the last fold while journalled facts wait"
    #expect(answer.text.contains("# HELP zonerelay_\(lag) for the next, else 0.\n"))
  }
}
