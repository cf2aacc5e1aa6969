import RelayCore
import RelayPush

extension Settings {
  /// Client certificates whose time is over or has not come, each with its route and the remedy.
  ///
  /// Only warned of: all other routes go on, and the daemon starts.
  func misfits(certificatesAt now: Instant) -> [String] {
    apps.flatMap { app in
      app.apns.compactMap { route -> String? in
        guard case .certificate(let files) = route.credential,
          // One that has gone since it was read is its sender's to report.
          let certificate = try? ClientCertificate(
            .init(certificate: files.certificate, key: files.key)),
          let misfit = certificate.misfit(files.certificate, at: now)
        else { return nil }
        return "route apns \(route.topic) of \(app.scope.container) \(app.scope.environment.name): "
          + "\(misfit.message); \(misfit.remedy)"
      }
    }
  }
}
