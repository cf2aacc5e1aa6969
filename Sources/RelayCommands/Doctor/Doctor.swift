import RelayCore
import RelayCurl

/// Performs the examination: asks what is next, looks, and tells each finding as it comes.
struct Doctor: Sendable {
  var probes: Probes
  let tell: @Sendable (Finding) -> Void

  /// How much longer than its window the courier may take.
  private static let courierPatience = Duration.seconds(20)

  mutating func run() async -> DoctorReport {
    var examination = Examination(isOffline: probes.isOffline)
    loop: while true {
      switch examination.next() {
      case .end: break loop
      case .skip(let finding): tell(finding)
      case .look(.change): examination.found(await walk())
      case .look(let step):
        let found = await probes.look(step)
        for finding in found { tell(finding) }
        examination.found(found)
        if step == .configuration {
          examination.read(
            hasSettings: probes.settings != nil, hasStore: probes.reading.storeDirectory != nil)
        }
        if step == .daemon { examination.asked(isRunning: probes.isRunning) }
      }
    }
    return DoctorReport(version: Version.text, findings: examination.findings)
  }

  /// Lets one change travel, if there are keys for it.
  private func walk() async -> [Finding] {
    guard let settings = probes.settings else { return [] }
    switch WalkScene.choose(settings.apps, probes.given) {
    case .none(let finding):
      tell(finding)
      return [finding]
    case .scene(let scene):
      let untried = untriedKey(in: scene)
      if let untried { tell(untried) }
      return [untried].compactMap(\.self) + (await walk(scene, settings))
    }
  }

  /// Names a producer's key that the operator has given for nothing.
  private func untriedKey(in scene: WalkScene) -> Finding? {
    guard case .bearer = scene.producer, probes.given.producerKey != nil else { return nil }
    return .skipped(
      .change, "--producer-key", "no producer of \(scene.scope.text) has this key",
      remedy: "name the private key of a publicKey in its producers, or leave the option out")
  }

  private func walk(_ scene: WalkScene, _ settings: Settings) async -> [Finding] {
    guard let address = DaemonAddress(settings, listening: probes.elsewhere) else {
      let finding = Finding.skipped(
        .change, "a change", "server.listen has port 0, so the port is not known",
        remedy: "write a port in server.listen")
      tell(finding)
      return [finding]
    }
    probes.say("letting a change travel in \(scene.scope.text), reported by \(scene.producerName)")
    do {
      var web = try await WalkWeb(
        address, scene, control: ControlClient(socket: settings.control.socket),
        client: probes.client)
      web.publicURL = probes.hasPublicURL ? settings.server.publicURL : nil
      let window = Duration.milliseconds(settings.wake.windowMax.milliseconds)
      return await WalkDriver(
        web: web, names: WalkNames(), patience: Self.courierPatience + window, tell: tell
      ).run()
    } catch {
      let finding = Finding.found(.changeDevice, "a token of the doctor", cause: "\(error)")
      tell(finding)
      return [finding]
    }
  }
}
