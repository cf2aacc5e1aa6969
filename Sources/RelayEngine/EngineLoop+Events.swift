import Logging
import RelayCore

extension EngineLoop {
  /// Logs only events that an operator should see, so that a day without faults logs little.
  func tell(_ event: Coordinator.Event) {
    switch event {
    case .clock(let reading): tell(reading)
    case .answered(let attempt, let verdict): tell(verdict, of: attempt)
    case .retired(let route, let reason):
      logger.info("device retired", metadata: route.metadata(reason))
    case .circuit(let route, let reason?):
      logger.warning("route stopped", metadata: route.metadata(reason))
    case .circuit(let route, nil):
      logger.notice(
        "route goes on", metadata: route.metadata(Verdict.Reason("its provider answers")))
    case .pruning(let route, let stop): tell(stop, on: route)
    case .hurried(let scope):
      logger.warning(
        "a hot change wakes more devices than smearing.rate allows in smearing.longest: faster",
        metadata: [
          "container": "\(scope.container)", "environment": "\(scope.environment.name)",
        ])
    case .appendRefused(let error):
      logger.error("journal refused", metadata: ["error": "\(error)"])
    case .divided(let error):
      logger.notice("journal takes less at once", metadata: ["error": "\(error)"])
    case .requestRefused(let error):
      logger.error("journal refused one request for good", metadata: ["error": "\(error)"])
    case .valuesLeftOut(let error):
      logger.error("a forwarded change goes without values", metadata: ["error": "\(error)"])
    case .foldRefused(let error): logger.error("fold refused", metadata: ["error": "\(error)"])
    case .stopping(let grace): dependencies.notifier.stopping(grace: grace)
    }
  }

  /// Logs why the daemon ends.
  func tell(_ failure: Coordinator.Failure, _ error: StoreError) {
    let text =
      switch failure {
      case .append: "journal failed"
      case .fold: "fold failed"
      case .fact: "journal refused a fact of the relay"
      }
    logger.critical("\(text)", metadata: ["error": "\(error)"])
  }

  private func tell(_ reading: RelayClock.Reading) {
    switch reading {
    case .steady: break
    case .jumped(_, let by):
      logger.warning(
        "wall clock far ahead", metadata: ["seconds": by.wholeSeconds, "followed": "after 1 h"])
    case .believed(_, let by):
      logger.notice(
        "wall clock followed: it was far ahead for 1 h", metadata: ["seconds": by.wholeSeconds])
    case .corrected: logger.notice("wall clock corrected: what was ahead is forgotten")
    }
  }

  private func tell(_ verdict: Verdict, of attempt: PushAttempt) {
    switch verdict {
    case .delivered, .gone, .later: return
    case .deliveredElsewhere:
      logger.info(
        "device found in the provider's other environment",
        metadata: attempt.route.metadata(Verdict.Reason("it took the push")))
    case .tooLarge(let reason):
      logger.error("push too large", metadata: attempt.route.metadata(reason))
    case .rejected(let reason):
      logger.error("push rejected", metadata: attempt.route.metadata(reason))
    }
  }

  private func tell(_ stop: Pruning.Stop?, on route: RouteKey) {
    guard let stop else {
      return logger.notice(
        "retiring devices again", metadata: route.metadata(Verdict.Reason("few are called dead")))
    }
    var metadata = route.metadata(Verdict.Reason(stop.reason))
    metadata["dead"] = "\(stop.dead)"
    metadata["users"] = "\(stop.users)"
    logger.error("too many devices called dead, none is retired", metadata: metadata)
  }
}

extension RouteKey {
  fileprivate func metadata(_ reason: Verdict.Reason) -> Logger.Metadata {
    [
      "container": "\(scope.container)", "environment": "\(scope.environment.name)",
      "transport": "\(transport.name)", "topic": "\(topic)", "reason": "\(reason)",
    ]
  }
}

extension Span {
  fileprivate var wholeSeconds: Logger.MetadataValue { "\(milliseconds / 1_000)" }
}
