import RelayWire

extension DevicesReport: Readable {
  func lines(_ paint: Paint) -> [String] {
    guard !devices.isEmpty else { return ["no devices"] }
    let heading = [
      "CLIENT", "USER", "CONTAINER", "ENVIRONMENT", "TRANSPORT", "STATE", "AGE", "LANE", "PENDING",
      "LAST WAKE", "LAST VERDICT", "LAST FETCH",
    ]
    let rows = devices.map { device in
      [
        device.clientId, device.user, device.container, device.environment, device.transport,
        device.state, Words.age(device.age), device.lane, "\(device.pending)",
        device.lastWake.map(Words.moment) ?? "never", device.lastVerdict ?? "none",
        device.lastFetch.map(Words.moment) ?? "never",
      ]
    }
    return TextTable.lines([heading] + rows)
  }
}

/// Every registration of one installation, in full.
struct DeviceDetails: Readable {
  var devices: [DeviceReport]

  func encode(to encoder: any Encoder) throws {
    try DevicesReport(devices: devices).encode(to: encoder)
  }

  func lines(_ paint: Paint) -> [String] {
    devices.flatMap { device in
      ["\(paint.strong(device.clientId))  \(device.state)"] + TextTable.lines(Self.rows(device))
    }
  }

  private static func verdict(_ device: DeviceReport) -> String {
    guard let verdict = device.lastVerdict, let at = device.lastVerdictAt else { return "none" }
    return "\(verdict), \(Words.moment(at))"
  }

  private static func rows(_ device: DeviceReport) -> [[String]] {
    [
      ["  user", device.user],
      ["  container", device.container],
      ["  environment", device.environment],
      ["  transport", device.transport],
      ["  topic", device.topic.isEmpty ? "-" : device.topic],
      ["  push token", device.tokenDigest.isEmpty ? "none" : "digest \(device.tokenDigest)"],
      ["  registered", "\(Words.moment(device.registeredAt)), \(Words.age(device.age)) ago"],
      ["  retired", device.reason ?? "no"],
      ["  lane", "\(device.lane), \(device.pending) pending"],
      ["  acknowledges", device.hasAcknowledged ? "yes" : "not yet"],
      ["  last wake", device.lastWake.map(Words.moment) ?? "never"],
      ["  last verdict", Self.verdict(device)],
      ["  last fetch", device.lastFetch.map(Words.moment) ?? "never"],
      ["  next wake", "number \(device.nextWake) or higher"],
      ["  woken again", "\(device.ladderStep) times without a sign"],
    ]
  }
}
