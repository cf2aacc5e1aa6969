import RelayCore

extension Settings {
  static func apps(_ root: Section) -> [App] {
    let containers = root.sections("containers")
    let isReported = root.diagnostics.problems.contains { $0.key == root.key("containers") }
    if containers.isEmpty, !isReported {
      let cause = root.isGiven("containers") ? "lists none" : "is missing"
      root.report("containers", cause, remedy: "list at least one container with its id")
    }
    var seen: Set<String> = []
    return containers.flatMap { section -> [App] in
      let id = section.required("id", .name(extra: ".-_"))
      if let id, !seen.insert(id).inserted {
        section.report("id", "\(id) stands twice", remedy: "list each container once")
      }
      let environments = section.section("environments")
      let found = Environment.allCases.reversed().compactMap { environment in
        environments.optionalSection(environment.name).map { (environment, $0) }
      }
      if found.isEmpty {
        section.report(
          "environments", "has no environment",
          remedy: "add development:, production: or both below it")
      }
      return found.compactMap { environment, section in
        app(section, Scope(container: id ?? "", environment: environment))
      }
    }
  }

  private static func app(_ section: Section, _ scope: Scope) -> App? {
    let users = users(section.section("users"))
    let apiTokens = section.list("apiTokens", section.headerSecret(min: 1, "an API token"))
    let origins = section.list("origins", .origin) ?? []
    reportRepeated(origins, in: "origins", "origin", section)
    let producers = producers(section)
    let routes = section.sections("apns").compactMap { route($0, scope.environment) }
    reportRepeated(routes.map(\.topic), in: "apns", "topic", section)
    let fcm = section.optionalSection("fcm").flatMap { Self.fcm($0) }
    let webPush = section.optionalSection("webpush").flatMap { Self.webPush($0) }
    let feedback = section.optionalSection("feedback").flatMap { Self.feedback($0) }
    return users.map {
      App(
        scope: scope, users: $0, apiTokens: apiTokens ?? [], producers: producers,
        origins: origins, apns: routes, fcm: fcm, webPush: webPush, feedback: feedback)
    }
  }

  static func reportRepeated(
    _ values: [String], in list: String, _ what: String, _ section: Section
  ) {
    var seen: Set<String> = []
    for value in values where !seen.insert(value).inserted {
      section.report(
        list, "the \(what) \(value) stands twice", remedy: "list each \(what) once")
    }
  }
}
