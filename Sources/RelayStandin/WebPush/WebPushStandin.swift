import Foundation

/// A stand-in for a push service on loopback. It checks what RFC 8030, 8188, 8291 and 8292 require
/// of a sender, except the content, which only the browser can decrypt.
///
/// The stand-in listens from its initialiser on; ``run()`` serves until its task is cancelled and
/// must be called once. Every request is written to `pushes.jsonl`, its body in base64, before the
/// request is answered.
package struct WebPushStandin: Sendable {
  /// The port that the stand-in listens on.
  package let port: Int
  private let server: FakeServer

  /// Makes or reads the certificate in `directory`, and listens.
  ///
  /// - Parameter control: the path of a Unix socket where faults are changed; nil means no socket.
  /// - Throws: ``StandinError``, which names what failed and a remedy.
  package init(
    host: String = "127.0.0.1", port: Int = 0, directory: String, control: String? = nil
  ) async throws(StandinError) {
    let files = StandinFiles(directory: directory)
    try files.prepareCertificate()
    server = try FakeServer(FakePushService(), files)
    self.port = try await server.listen(host: host, port: port, control: control, files)
  }

  /// Serves until the task is cancelled, then closes every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  package func run() async throws(StandinError) { try await server.run() }
}

/// The rules of a push service. The path of a subscription's endpoint is `/push/` and a name. A
/// name that begins with one of the words of ``DeviceBehavior`` is treated accordingly.
struct FakePushService: FakeHTTPProvider {
  func answer(_ request: PushRequest, at milliseconds: Int64) -> FakeAnswer {
    if let refusal = refusal(request, at: milliseconds / 1_000) { return refusal }
    switch DeviceBehavior(token: token(of: request) ?? "") {
    case .dead: return .refused(404, "NotFound")
    case .gone: return .refused(410, "Gone")
    case .busy:
      return .refused(429, "TooManyRequests").retry(after: 7)
    case .fail: return .refused(500, "InternalServerError")
    case .mute: return .silence
    case .slow:
      return FakeAnswer(status: 201, delay: DeviceBehavior.slow.delay)
    case .ordinary, .development, .production:
      return FakeAnswer(status: 201, headers: [("location", "/message/\(milliseconds)")])
    }
  }

  func token(of request: PushRequest) -> String? {
    String(request.path.dropFirst(Self.place.count))
  }

  func answer(to fault: AnswerFault) -> FakeAnswer {
    .refused(fault.status, fault.reason.rawValue)
  }

  func record(of request: PushRequest) -> [String: Any] {
    ["body": request.body.base64EncodedString()]
  }

  private static let place = "/push/"
  private static let recordBytesMax = 4_096
  private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]

  private func refusal(_ request: PushRequest, at now: Int64) -> FakeAnswer? {
    guard request.path.hasPrefix(Self.place), request.path.count > Self.place.count else {
      return .refused(404, "NotFound")
    }
    guard request.method == "POST" else { return .refused(405, "MethodNotAllowed") }
    guard let ttl = request.header("ttl"), let seconds = Int64(ttl), seconds >= 0 else {
      return .refused(400, "MissingTTL")
    }
    if let urgency = request.header("urgency"), !Self.urgencies.contains(urgency) {
      return .refused(400, "BadUrgency")
    }
    if let topic = request.header("topic"),
      !((1...32).contains(topic.utf8.count) && topic.isPlain(and: "-_"))
    {
      return .refused(400, "BadTopic")
    }
    guard request.header("content-encoding") == "aes128gcm" else {
      return .refused(400, "BadEncoding")
    }
    if request.bodyBytes > Self.recordBytesMax { return .refused(413, "PayloadTooLarge") }
    guard SealedHeader.isGood(request.body) else { return .refused(400, "BadRecord") }
    return Vapid.refusal(
      request.header("authorization"), origin: "https://\(request.header("host") ?? "")", at: now)
  }
}

extension FakeAnswer {
  static func refused(_ status: Int, _ reason: String) -> FakeAnswer {
    FakeAnswer(status: status, body: "{\"reason\":\"\(reason)\"}", reason: reason)
  }
}
