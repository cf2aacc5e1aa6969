import RelayCore
import RelayPush

extension Settings {
  /// Client certificates that have expired or are not valid yet, each with its route and the
  /// remedy.
  ///
  /// These certificates cause only a warning: all other routes work, and the daemon starts.
  func misfits(certificatesAt now: Instant) -> [String] {
    apps.flatMap { app in
      app.apns.compactMap { route -> String? in
        guard case .certificate(let files) = route.credential,
          // If a file has disappeared since its check, the route's sender reports that.
          let certificate = try? ClientCertificate(files),
          let misfit = certificate.misfit(files.certificate, at: now)
        else { return nil }
        return "route apns \(route.topic) of \(app.scope.container) \(app.scope.environment.name): "
          + "\(misfit.text); \(misfit.remedy)"
      }
    }
  }

  /// How many files the daemon may open besides its clients' connections: for the store, the
  /// providers and the logs.
  static let filesBeside = 500

  /// A warning with its remedy if the connections need more files than may be open; nil if not.
  ///
  /// - Parameter most: how many files may be open.
  func misfit(files most: Int) -> String? {
    let wanted = requests.connections + Self.filesBeside
    guard wanted > most else { return nil }
    let couriers = min(limits.courierConnections, max(0, most - Self.filesBeside))
    return
      "limits.connections (\(requests.connections)) and \(Self.filesBeside) files beside do not "
      + "fit into the \(most) that may be open, of limits.courierConnections "
      + "(\(limits.courierConnections)) at most \(couriers) do; raise LimitNOFILE of the unit, or "
      + "the hard limit of the shell, to \(wanted), or lower limits.connections"
  }
}
