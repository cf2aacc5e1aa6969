import RelayCore
import RelayCurl

/// Performs each look that `Examination` names next, and tells each finding as it comes.
struct Doctor: Sendable {
  var probes: Probes
  let log: FindingLog

  /// How much longer than the longest window the courier may take to bring the doctor's wake.
  private static let courierPatience = Duration.seconds(20)

  mutating func run() async -> DoctorReport {
    var examination = Examination(isOffline: probes.isOffline)
    while true {
      switch examination.next() {
      case .end: return DoctorReport(version: Version.text, findings: log.findings)
      case .skip(let finding): log.tell(finding)
      case .look(.change): await walk()
      case .look(let step):
        for finding in await probes.look(step) { log.tell(finding) }
        if step == .configuration {
          examination.hasSettings = probes.settings != nil
          examination.hasStore = probes.reading.storeDirectory != nil
        }
        if step == .daemon { examination.isRunning = probes.isRunning }
      }
    }
  }

  /// Lets one change travel, if the doctor can act as a user and as a producer of an environment.
  private func walk() async {
    guard let settings = probes.settings else { return }
    switch WalkScene.choose(settings.apps, probes.given) {
    case .none(let finding): log.tell(finding)
    case .scene(let scene):
      // The operator has given a key that no producer of this environment has.
      if case .bearer = scene.producer, probes.given.producerKey != nil {
        log.tell(
          .skipped(
            .change, "--producer-key", "no producer of \(scene.scope.text) has this key",
            remedy: "name the private key of a publicKey in its producers, or leave the option out")
        )
      }
      await walk(scene, settings)
    }
  }

  private func walk(_ scene: WalkScene, _ settings: Settings) async {
    guard let address = DaemonAddress(settings, listening: probes.elsewhere) else {
      return log.tell(
        .skipped(
          .change, "a change", "server.listen has port 0, so the port is not known",
          remedy: "write a port in server.listen"))
    }
    probes.say("letting a change travel in \(scene.scope.text), reported by \(scene.producerName)")
    do {
      var web = try await WalkWeb(
        address, scene, control: ControlClient(socket: settings.control.socket),
        client: probes.client)
      web.publicURL = probes.hasPublicURL ? settings.server.publicURL : nil
      let window = Duration.milliseconds(settings.wake.windowMax.milliseconds)
      await WalkDriver(
        web: web, names: WalkNames(), patience: Self.courierPatience + window, log: log
      ).run()
    } catch {
      log.tell(.found(.changeDevice, "a token of the doctor", cause: "\(error)"))
    }
  }
}
