import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A stand-in for APNs on loopback, for tests and demonstrations: HTTP/2 over TLS, Apple's rules
/// and refusals, and faults on request.
///
/// The stand-in listens from its initialiser on; ``run()`` serves until its task is cancelled and
/// must be called once. Every request is written to `pushes.jsonl` before it is answered.
package struct APNsStandin: Sendable {
  /// The port that the stand-in listens on.
  package let port: Int
  private let open: OpenChannels
  private let board: FaultBoard
  private let control: FaultControl?

  /// Makes or reads the files in the settings' directory, and listens.
  ///
  /// - Throws: ``StandinError``, which names what failed and a remedy.
  package init(_ settings: StandinSettings) async throws(StandinError) {
    try settings.validate()
    let files = StandinFiles(directory: settings.directory)
    let key = try files.prepare()
    let clientAuthority = try files.prepareClient(settings.clientTopics)
    let log = try PushLog(path: files.pushes)
    let tls = try Self.tls(files, asksForCertificate: true)
    // All connections share one event loop, so requests are judged and logged in one order.
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let board = FaultBoard(loop: loop)
    let apns = FakeAPNs(
      settings, key: key, clientAuthority: clientAuthority, log: log, board: board)
    let open = OpenChannels()
    port = try await open.listen(host: settings.host, port: settings.port, on: loop) { channel in
      channel.eventLoop.makeCompletedFuture {
        try Self.serve(channel, tls: tls, apns: apns, open: open, board: board)
      }
    }
    self.open = open
    self.board = board
    control = try await FaultControl.open(settings.control, board: board, loop: loop)
  }

  /// Replaces the current faults by `faults`. When the call returns, they apply to all connections.
  package func set(_ faults: Faults) async throws { try await board.set(faults) }

  /// Serves until the task is cancelled, then closes every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  package func run() async throws(StandinError) { try await open.serve(with: control) }

  static func tls(
    _ files: StandinFiles, protocols: [String] = ["h2"], asksForCertificate: Bool = false
  ) throws(StandinError) -> NIOSSLContext {
    do {
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map {
          .certificate($0)
        },
        privateKey: .privateKey(try NIOSSLPrivateKey(file: files.certificateKey, format: .pem)))
      configuration.applicationProtocols = protocols
      // A client that sends no close_notify delays the close by at most this time.
      configuration.shutdownTimeout = .milliseconds(500)
      configuration.minimumTLSVersion = .tlsv12
      if asksForCertificate {
        configuration.certificateVerification = .optionalVerification
        configuration.trustRoots = .certificates([])
      }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw StandinError(
        code: .keys,
        message: "\(files.certificate) or \(files.certificateKey) is no certificate: \(error)",
        remedy: "remove the file, and new ones are made")
    }
  }

  private static func serve(
    _ channel: any Channel, tls: NIOSSLContext, apns: FakeAPNs, open: OpenChannels,
    board: FaultBoard
  ) throws {
    let gate = Gate(board.faults)
    let goAway = GoAwayWriter()
    let connection = FakeConnection(
      number: apns.connectionOpened(), apns: apns, channel: channel,
      goAway: goAway, gate: gate)
    let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
    var settings = NIOHTTP2Handler.ConnectionConfiguration()
    settings.initialSettings = [
      HTTP2Setting(parameter: .maxConcurrentStreams, value: apns.maxStreams),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
    ]
    // A client with deadlines resets the streams that `mute` leaves open. The high limit keeps NIO
    // from treating these resets as an attack.
    var streams = NIOHTTP2Handler.StreamConfiguration()
    streams.streamResetFrameRateLimit.maximumCount = 100_000
    // The handshake accepts any client certificate. If the certificate is bad, each push of the
    // connection is refused, as Apple does.
    let security = NIOSSLServerHandler(
      context: tls,
      customVerificationCallback: { _, verdict in verdict.succeed(.certificateVerified) })
    try channel.pipeline.syncOperations.addHandlers(gate, security)
    try channel.pipeline.syncOperations.addHandler(goAway)
    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: settings, streamConfiguration: streams
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        try stream.pipeline.syncOperations.addHandler(
          PushStream(connection: bound.value, apns: apns) { error in
            open.fail(error)
          })
      }
    }
    try channel.pipeline.syncOperations.addHandler(connection)
    open.insert(channel)
    board.tell(channel) { bound.value.heard($0) }
  }
}
