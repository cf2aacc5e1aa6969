import RelayCurl

/// A try to connect to a server that the configuration names.
struct ServerEvidence: Sendable {
  /// What the configuration needs the server for, such as `apns com.example.notes`.
  var use: String
  /// Scheme, host and port.
  var place: String
  var outcome: Result<ConnectTimes, ClientError>

  var finding: Finding {
    let subject = "\(use) at \(place)"
    switch outcome {
    case .success(let times):
      let steps = times.secured > .zero ? "DNS, TCP and TLS" : "DNS and TCP"
      return .passed(.network, subject, "\(steps) are good", took: times.all)
    case .failure(let error): return Self.finding(of: error, subject)
    }
  }

  /// The finding for a connection that failed.
  static func finding(of error: ClientError, _ subject: String) -> Finding {
    switch error.code {
    case .noHost: return .found(.hostUnknown, subject, cause: error.message)
    case .tls:
      let isOfTime = ["not yet valid", "expired"].contains { error.message.contains($0) }
      return .found(
        .serverUntrusted, subject, cause: error.message,
        remedy: isOfTime
          ? "look at the machine's clock first: timedatectl; if it is right, renew the server's "
            + "certificate" : nil)
    default: return .found(.serverUnreachable, subject, cause: error.message)
    }
  }
}

/// What the account server at `users.jwks` answered.
struct KeySetEvidence: Sendable {
  enum Outcome: Sendable {
    case keys(Int)
    /// The server answered something else than keys.
    case unusable(String)
    case failed(ClientError)
  }

  var use: String
  var place: String
  var outcome: Outcome
  var time: ServerTime?

  var findings: [Finding] {
    let subject = "\(use) at \(place)"
    let time = time?.findings ?? []
    switch outcome {
    case .keys(let count):
      let keys = count == 1 ? "1 key" : "\(count) keys"
      return [.passed(.network, subject, "it gives \(keys) of users")] + time
    case .unusable(let reason): return [.found(.keysUnusable, subject, cause: reason)] + time
    case .failed(let error): return [Self.finding(of: error, subject)]
    }
  }

  /// The finding for a fetch of keys that failed. Only some failures mean that there was no
  /// connection.
  private static func finding(of error: ClientError, _ subject: String) -> Finding {
    switch error.code {
    case .noHost, .refused, .tls: ServerEvidence.finding(of: error, subject)
    case .answerTooLarge: .found(.keysUnusable, subject, cause: error.message)
    default:
      .found(
        .keysUnusable, subject, cause: error.message,
        remedy: "look at that server, and at a proxy or firewall between; correct users.jwks if it "
          + "is another one")
    }
  }
}

/// What answers at `server.publicURL`.
struct PublicURLEvidence: Sendable {
  enum Outcome: Sendable {
    /// A relay answers at the URL; which relay it is, is not known.
    case relay(took: Duration)
    /// The relay at the URL knows the device that the doctor has registered with this machine's
    /// relay.
    case thisRelay
    /// The URL gives no answer, or not the answer of this relay; the text says why.
    case other(String)
  }

  var url: String
  var outcome: Outcome

  var finding: Finding {
    let subject = "server.publicURL \(url)"
    return switch outcome {
    case .relay(let took): .passed(.network, subject, "a relay answers there", took: took)
    case .thisRelay: .passed(.change, subject, "it leads to this relay")
    case .other(let answer): .found(.publicURLElsewhere, subject, cause: answer)
    }
  }
}

/// How the daemon answered the preflight of a browser whose page has a listed origin.
struct OriginEvidence: Sendable {
  var origin: String
  /// Container and environment.
  var scope: String
  /// Why pages of the origin may not send requests; nil if they may.
  var refusal: String?

  var finding: Finding {
    let subject = "origin \(origin) of \(scope)"
    return refusal.map { .found(.originRefused, subject, cause: $0) }
      ?? .passed(.network, subject, "the daemon lets its pages ask")
  }
}
