import RelayCore

extension Settings {
  static func apps(_ root: Section) -> [App] {
    let containers = root.sections("containers")
    if containers.isEmpty, !root.problemsConcern("containers") {
      let cause = root.isGiven("containers") ? "lists none" : "is missing"
      root.report("containers", Wrong(cause, remedy: "list at least one container with its id"))
    }
    var seen: Set<String> = []
    return containers.flatMap { section -> [App] in
      let id = section.required("id", .name(extra: ".-_"))
      if let id, !seen.insert(id).inserted {
        section.report("id", Wrong("\(id) stands twice", remedy: "list each container once"))
      }
      let environments = section.section("environments")
      let found = Environment.allCases.reversed().compactMap { environment in
        environments.optionalSection(environment.name).map { (environment, $0) }
      }
      if found.isEmpty {
        section.report(
          "environments",
          Wrong("has no environment", remedy: "add development:, production: or both below it"))
      }
      return found.compactMap { environment, section in
        app(section, Scope(container: id ?? "", environment: environment))
      }
    }
  }

  private static func app(_ section: Section, _ scope: Scope) -> App? {
    let users = users(section.section("users"))
    let apiTokens = section.list("apiTokens", section.headerSecret(min: 1, "an API token"))
    let producers = producers(section)
    let routes = section.sections("apns").compactMap { route($0, scope.environment) }
    reportRepeated(routes.map(\.topic), of: section.key("apns"), "topic", section)
    let fcm = section.optionalSection("fcm").flatMap { Self.fcm($0) }
    let webPush = section.optionalSection("webpush").flatMap { Self.webPush($0) }
    return users.map {
      App(
        scope: scope, users: $0, apiTokens: apiTokens ?? [], producers: producers, apns: routes,
        fcm: fcm, webPush: webPush)
    }
  }

  private static func users(_ section: Section) -> Users? {
    let issuer = section.value("issuer", .text())
    if section.node("jwks") != nil {
      section.report("jwks", .unsupported("a key set", instead: "use sharedSecret (HS256)"))
      if !section.isGiven("sharedSecret") { return nil }
    }
    let secret = section.required("sharedSecret", section.secret(min: 32, "a secret"))
    return secret.map { Users(sharedSecret: $0, issuer: issuer) }
  }

  private static func producers(_ section: Section) -> [Producer] {
    let producers = section.sections("producers").compactMap { item -> Producer? in
      let name = item.required("name", .name(max: 64))
      let signs = ["keyID", "publicKey"].filter { item.node($0) != nil }
      if let first = signs.first {
        item.report(
          first,
          .unsupported("a server-to-server signature", instead: "use bearer: PATH for this one"))
        if !item.isGiven("bearer") { return nil }
      }
      let bearer = item.required("bearer", item.headerSecret(min: 32, "a bearer key"))
      guard let name, let bearer else { return nil }
      return Producer(name: name, bearer: bearer)
    }
    reportRepeated(producers.map(\.name), of: section.key("producers"), "name", section)
    for (index, producer) in producers.enumerated() {
      let twin = producers[..<index].first { $0.bearer.bytes == producer.bearer.bytes }
      guard let twin else { continue }
      section.report(
        "producers",
        Wrong(
          "\(twin.name) and \(producer.name) have the same bearer key",
          remedy: "give each producer a key of its own"))
    }
    return producers
  }

  private static func reportRepeated(
    _ values: [String], of key: String, _ what: String, _ section: Section
  ) {
    var seen: Set<String> = []
    for value in values where !seen.insert(value).inserted {
      section.findings.report(
        key, Wrong("the \(what) \(value) stands twice", remedy: "list each \(what) once"),
        line: section.line)
    }
  }
}
