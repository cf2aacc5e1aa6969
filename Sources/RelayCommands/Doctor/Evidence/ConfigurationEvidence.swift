/// The configuration file, and the problems that the reading of the file found. The problems of the
/// store are left out: `StoreEvidence` has them.
struct ConfigurationEvidence: Sendable {
  var file: String
  var problems: [Problem]

  var findings: [Finding] {
    guard !problems.isEmpty else {
      return [.passed(.configuration, file, "the configuration is good")]
    }
    return problems.map { problem in
      .found(.configurationBad, problem.place, cause: problem.cause, remedy: problem.remedy)
    }
  }
}
