import ArgumentParser
import RelayStandin

struct StandinCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "apns-standin",
    abstract: "Plays Apple's push service on loopback, for tests and demonstrations.",
    discussion: """
      Answers as Apple documents: path, token, topic, push type, priority, payload, size, ids and \
      the provider's JWT are checked. Makes in the directory what is missing: ca.pem (name it as \
      trustRoots), AuthKey.p8 and AuthKey.pub.pem (a provider key). Prints "ready" on stdout when \
      it listens, and appends a line to pushes.jsonl for every request.

      A device token that begins with dead, gone, busy, fail, slow or mute gets BadDeviceToken, \
      410, 429, 500, a delay of 3 seconds, or no answer. One that begins with development or \
      production is known in that environment only. (Words that are no hexadecimal: their \
      letters in it.)

      AuthKey.p8 is accepted with any key id and team; with --key-id and --team only with these.

      With --client-topic it also makes client.pem and client.key, a client certificate that takes \
      the place of a provider key, and client-ca.pem and client-ca.key, who signs such ones.

      With --control it does wrong on request, while it runs: PUT /faults on that socket replaces \
      what it does wrong by the lines of the body, DELETE ends it, GET shows it. The lines:
        answer WORD [retry-after=N] [age=DURATION] [topic=TOPIC] [tokens=PREFIX]
                        a status (400 403 410 413 429 500 503) or a reason
                        of Apple's; age is how old a 410's timestamp is
        slow DURATION   every answer waits
        silence         requests are taken, nothing is answered, pings neither
        reset [every=N], hangup [every=N]
                        the stream, or the connection, is reset
        goaway [every=N]
                        each Nth request meets a GOAWAY; without N, open
                        connections say it now
        streams N       the limit of streams, of open connections too
        handshake DURATION
                        TLS of new connections waits
        blackhole       connections are accepted, and nothing is read or written
        refuse          connections are reset

      Examples:
        zonerelay apns-standin --listen 127.0.0.1:8443 --directory standin
        curl --unix-socket faults.sock -X PUT \\
          -d "answer 503 retry-after=2" http://standin/faults
      """)

  @Option(
    help: ArgumentHelp("Loopback address; port 0 lets the system choose.", valueName: "host:port"))
  var listen = "127.0.0.1:8443"

  @Option(help: ArgumentHelp("Where certificate, keys and pushes.jsonl are.", valueName: "dir"))
  var directory: String

  @Option(help: ArgumentHelp("Every so manieth request meets a GOAWAY.", valueName: "n"))
  var goawayEvery: Int?

  @Option(help: ArgumentHelp("Every so manieth request is reset.", valueName: "n"))
  var resetEvery: Int?

  @Option(help: ArgumentHelp("Streams that a connection may have at once.", valueName: "n"))
  var maxStreams = StandinSettings.maxStreamsDefault

  @Option(
    help: ArgumentHelp("Unix socket where faults are changed while it runs.", valueName: "socket"))
  var control: String?

  @Option(
    help: ArgumentHelp(
      "Plays one of Apple's environments: development or production.", valueName: "name"))
  var environment: String?

  @Option(
    help: ArgumentHelp("A topic of the client certificate; may be repeated.", valueName: "topic"))
  var clientTopic: [String] = []

  @Option(help: ArgumentHelp("The only id that AuthKey.p8 has.", valueName: "id"))
  var keyID: String?

  @Option(help: ArgumentHelp("The only team that AuthKey.p8 belongs to.", valueName: "id"))
  var team: String?

  func validate() throws {
    let settings = settings(at: try StandinAddress.read(listen))
    do throws(StandinError) {
      try settings.validate()
    } catch {
      throw ValidationError("--\(error.message): \(error.remedy)")
    }
  }

  func perform(_ console: Console) async throws -> ExitStatus {
    let address = try StandinAddress.read(listen)
    let standin = try await APNsStandin(settings(at: address))
    return try await StandinAddress.serve(standin, on: address, console)
  }

  private func settings(at address: ListenAddress) -> StandinSettings {
    var settings = StandinSettings(
      host: address.host, port: address.port, directory: directory, goawayEvery: goawayEvery,
      resetEvery: resetEvery, maxStreams: maxStreams, control: control,
      environment: environment, clientTopics: clientTopic)
    (settings.keyID, settings.teamID) = (keyID, team)
    return settings
  }
}
