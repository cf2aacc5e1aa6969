import RelayWire

extension DevicesReport: Readable {
  func lines(_ paint: Paint) -> [String] {
    guard !devices.isEmpty else { return ["no devices"] }
    // The most important columns come first, because a narrow terminal shows only the columns that
    // fit. `device show` prints all values.
    let heading = [
      "CLIENT", "USER", "STATE", "LANE", "PENDING", "LAST FETCH", "LAST VERDICT", "TRANSPORT",
      "AGE", "LAST WAKE", "ENVIRONMENT", "CONTAINER",
    ]
    let rows = devices.map { device in
      [
        device.clientId, HumanFormat.cut(device.user, to: Self.userWidth), device.state,
        device.lane,
        "\(device.pending)", device.lastFetch.map(HumanFormat.moment) ?? "never",
        device.lastVerdict ?? "none", device.transport, HumanFormat.age(device.age),
        device.lastWake.map(HumanFormat.moment) ?? "never", device.environment, device.container,
      ]
    }
    return TextTable.lines([heading] + rows, columns: paint.columns)
  }

  /// With this width the first five columns fit into 80 characters.
  private static let userWidth = 14
}

/// Every registration of one installation, in full. Its JSON is that of a `DevicesReport`.
struct DeviceDetails: Readable {
  var devices: [DeviceReport]

  func lines(_ paint: Paint) -> [String] {
    devices.flatMap { device in
      ["\(paint.strong(device.clientId))  \(device.state)"] + TextTable.lines(Self.rows(device))
    }
  }

  private static func verdict(_ device: DeviceReport) -> String {
    guard let verdict = device.lastVerdict, let at = device.lastVerdictAt else { return "none" }
    return "\(verdict), \(HumanFormat.moment(at))"
  }

  private static func rows(_ device: DeviceReport) -> [[String]] {
    [
      ["  user", device.user],
      ["  container", device.container],
      ["  environment", device.environment],
      ["  transport", device.transport],
      ["  topic", device.topic.isEmpty ? "-" : device.topic],
      ["  push token", device.tokenDigest.isEmpty ? "none" : "digest \(device.tokenDigest)"],
      [
        "  registered",
        "\(HumanFormat.moment(device.registeredAt)), \(HumanFormat.age(device.age)) ago",
      ],
      ["  retired", device.reason ?? "no"],
      ["  lane", "\(device.lane), \(device.pending) pending"],
      ["  acknowledges", device.hasAcknowledged ? "yes" : "not yet"],
      ["  last wake of the app", device.lastWake.map(HumanFormat.moment) ?? "never"],
      ["  last verdict", Self.verdict(device)],
      ["  last fetch", device.lastFetch.map(HumanFormat.moment) ?? "never"],
      ["  next wake", "number \(device.nextWake) or higher"],
      ["  woken again", "\(device.ladderStep) times without a sign"],
    ]
  }
}
