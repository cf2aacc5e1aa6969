/// The settings of an APNs stand-in.
package struct StandinSettings: Sendable {
  /// The loopback address to listen on: `127.0.0.1`, `::1` or `localhost`.
  package var host: String
  /// The port to listen on; 0 lets the system choose one, which ``APNsStandin/port`` returns.
  package var port: Int
  /// The directory for certificate, keys and the log of requests; made if it is absent.
  package var directory: String
  /// Every nth request, counted over all connections, gets a GOAWAY; nil means no request.
  package var goawayEvery: Int?
  /// Every nth request is answered by RST_STREAM; nil means no request.
  package var resetEvery: Int?
  /// SETTINGS_MAX_CONCURRENT_STREAMS of each connection.
  package var maxStreams: Int
  /// The path of a Unix socket where faults are changed while the stand-in runs; nil means no
  /// socket.
  package var control: String?
  /// Apple's environment that the stand-in plays, `development` or `production`; nil means both.
  package var environment: String?
  /// The topics of a provider's client certificate, which is made only if there are topics.
  package var clientTopics: [String]
  /// The id of the provider key in `AuthKey.p8`, and the id of the key's team. The stand-in refuses
  /// provider tokens that name another key or team; nil means that any is accepted.
  package var keyID: String?
  package var teamID: String?

  /// How many streams Apple allows once a connection has sent a valid provider token.
  package static let maxStreamsDefault = 1_000
  /// How long the answer for a device token that begins with `slow` is delayed.
  package static let slowSeconds: Int64 = 3

  package init(
    host: String = "127.0.0.1", port: Int = 0, directory: String, goawayEvery: Int? = nil,
    resetEvery: Int? = nil, maxStreams: Int = StandinSettings.maxStreamsDefault,
    control: String? = nil, environment: String? = nil, clientTopics: [String] = []
  ) {
    self.host = host
    self.port = port
    self.directory = directory
    self.goawayEvery = goawayEvery
    self.resetEvery = resetEvery
    self.maxStreams = maxStreams
    self.control = control
    self.environment = environment
    self.clientTopics = clientTopics
  }

  /// Throws an error if a count, the environment, an id or the port is not allowed.
  package func validate() throws(StandinError) {
    func check(_ isGood: Bool, _ problem: String, _ remedy: String) throws(StandinError) {
      guard !isGood else { return }
      throw StandinError(code: .badSetting, message: problem, remedy: remedy)
    }
    let counts = [
      ("goaway-every", goawayEvery), ("reset-every", resetEvery), ("max-streams", maxStreams),
    ]
    for case (let name, let count?) in counts {
      try check(
        (1...Int(Int32.max)).contains(count), "\(name) is \(count)", "give a count of 1 or more")
    }
    if let environment {
      try check(
        environment == "development" || environment == "production",
        "environment is \(environment)", "give development or production")
    }
    for case (let name, let id?) in [("key-id", keyID), ("team", teamID)] {
      try check(
        ProviderTokens.isTenCharacters(id), "\(name) is \(id)", "give ten letters and digits")
    }
    try check(
      (0...65_535).contains(port), "port is \(port)", "give a port from 0 to 65535")
  }
}
