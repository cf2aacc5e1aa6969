/// The app's namespace: a container in one of its two environments. No data leaves its scope.
package struct Scope: Hashable, Comparable, Sendable {
  package var container: String
  package var environment: Environment

  package init(container: String, environment: Environment) {
    self.container = container
    self.environment = environment
  }

  package static func < (left: Scope, right: Scope) -> Bool {
    (left.container, left.environment.rawValue) < (right.container, right.environment.rawValue)
  }
}

/// An environment of a container. The raw value is CloudKit's `ce`: 1 for production, 2 for
/// development, never 0.
package enum Environment: UInt8, Hashable, Sendable, Named {
  case production = 1
  case development = 2

  package var name: String {
    switch self {
    case .production: "production"
    case .development: "development"
    }
  }

  package var other: Environment { self == .production ? .development : .production }
}
