import NIOCore
import NIOHTTP2
import NIOSSL

/// A stand-in for APNs on loopback, for tests and demonstrations: HTTP/2 over TLS, Apple's rules
/// and refusals, and faults on request.
///
/// The stand-in listens from its initialiser on; ``run()`` serves until its task is cancelled and
/// must be called once. Every request is written to `pushes.jsonl` before it is answered.
package struct APNsStandin: Sendable {
  /// The port that the stand-in listens on.
  package let port: Int
  private let server: FakeServer

  /// Makes or reads the files in the settings' directory, and listens.
  ///
  /// - Throws: ``StandinError``, which names what failed and a remedy.
  package init(_ settings: StandinSettings) async throws(StandinError) {
    try settings.validate()
    let files = StandinFiles(directory: settings.directory)
    try files.prepareCertificate()
    let key = try files.prepareProviderKey()
    let clientAuthority = try files.prepareClient(settings.clientTopics)
    let apns = FakeAPNs(settings, key: key, clientAuthority: clientAuthority)
    let server = try FakeServer(apns, files)
    self.server = server
    let tls = try files.tls(asksForCertificate: true)
    port = try await server.listen(
      host: settings.host, port: settings.port, control: settings.control
    ) { channel, gate in
      channel.eventLoop.makeCompletedFuture {
        try Self.serve(channel, gate, tls: tls, apns: apns, server: server)
      }
    }
  }

  /// Replaces the current faults by `faults`. When the call returns, the new faults apply to all
  /// connections.
  package func set(_ faults: Faults) async throws { try await server.board.set(faults) }

  /// Serves until the task is cancelled, then closes every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  package func run() async throws(StandinError) { try await server.run() }

  private static func serve(
    _ channel: any Channel, _ gate: Gate, tls: NIOSSLContext, apns: FakeAPNs, server: FakeServer
  ) throws {
    let goAway = GoAwayWriter()
    let connection = FakeConnection(
      number: apns.connectionOpened(), apns: apns, board: server.board, channel: channel,
      goAway: goAway)
    let bound = NIOLoopBound((connection, gate), eventLoop: channel.eventLoop)
    var settings = NIOHTTP2Handler.ConnectionConfiguration()
    settings.initialSettings = [
      HTTP2Setting(
        parameter: .maxConcurrentStreams, value: apns.maxStreams(under: server.board.faults)),
      HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
    ]
    // A client with deadlines resets the streams that the stand-in never answers. The high limit
    // keeps NIO from treating these resets as an attack.
    var streams = NIOHTTP2Handler.StreamConfiguration()
    streams.streamResetFrameRateLimit.maximumCount = 100_000
    // The handshake accepts any client certificate. If the certificate is bad, the stand-in refuses
    // each push of the connection, as Apple does.
    let security = NIOSSLServerHandler(
      context: tls,
      customVerificationCallback: { _, verdict in verdict.succeed(.certificateVerified) })
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers(security, goAway)
    _ = try pipeline.configureHTTP2Pipeline(
      mode: .server, connectionConfiguration: settings, streamConfiguration: streams
    ) { stream in
      stream.eventLoop.makeCompletedFuture {
        let (connection, gate) = bound.value
        try stream.pipeline.syncOperations.addHandler(
          PushStream(connection: connection, gate: gate, server: server))
      }
    }
    try pipeline.addHandler(connection)
    server.board.tell(channel) { bound.value.0.heard($0) }
  }
}
