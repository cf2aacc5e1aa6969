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
          let certificate = try? ClientCertificate(
            .init(certificate: files.certificate, key: files.key)),
          let misfit = certificate.misfit(files.certificate, at: now)
        else { return nil }
        return "route apns \(route.topic) of \(app.scope.container) \(app.scope.environment.name): "
          + "\(misfit.text); \(misfit.remedy)"
      }
    }
  }
}
