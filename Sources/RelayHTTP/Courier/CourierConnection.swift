import HTTPTypes
import NIOCore
import RelayCore
import RelayEngine
import Synchronization

/// An open poll or stream.
struct CourierConnection: Sendable {
  let device: DeviceKey
  let isStream: Bool
  /// The web page of another origin that reads the answer; `nil` means that the client is no web
  /// page.
  let page: CrossOrigin?
  let reader: DetachedResponse
  let relay: any RelayService
  /// The timer wheel's tick at which the courier address expires.
  let expires: Int
  var slot: Int?
  /// The wake that is being written; `nil` means that the connection is idle.
  var message: CourierMessage?

  /// Sends the head of a stream at once. Does nothing for a poll. Call this method on the
  /// connection's event loop.
  func begin(at date: String) {
    guard isStream else { return }
    reader.narrow()
    let head = head([
      .cacheControl: "no-store", .contentType: "text/event-stream", .date: date,
    ])
    reader.writeNow(
      HTTPConnection.ResponsePart(
        head: head, body: [ByteBuffer(string: ": zonerelay\n\n")], isLast: false)
    )
  }

  func give(
    _ message: CourierMessage, at date: String,
    _ done: @escaping @Sendable (_ isWritten: Bool) -> Void
  ) {
    if isStream {
      var event = ByteBuffer(string: "id: \(message.wake)\ndata: ")
      event.writeBytes(message.payload)
      event.writeStaticString("\n\n")
      reader.write(HTTPConnection.ResponsePart(body: [event], isLast: false), done)
    } else {
      let head = head([
        .cacheControl: "no-store", .contentType: "application/json",
        .contentLength: "\(message.payload.count)", .date: date,
      ])
      let part = HTTPConnection.ResponsePart(
        head: head, body: [ByteBuffer(bytes: message.payload)])
      reader.write(part, done)
    }
  }

  /// Sends an empty comment, which shows that a stream is alive.
  func beat() {
    reader.write(HTTPConnection.ResponsePart(body: [ByteBuffer(string: ":\n\n")], isLast: false))
  }

  /// Ends the connection without a wake: a poll gets an empty answer, and a stream ends.
  func end(at date: String) {
    guard !isStream else { return reader.write(HTTPConnection.ResponsePart()) }
    let head = head([.cacheControl: "no-store", .contentLength: "0", .date: date])
    reader.write(HTTPConnection.ResponsePart(head: head))
  }

  private func head(_ fields: HTTPFields) -> HTTPResponse {
    var fields = fields
    page?.mark(&fields)
    return HTTPResponse(status: .ok, headerFields: fields)
  }
}

/// A wake on its way to a device. The message passes exactly one verdict to `answer`, whatever
/// happens to the wake.
final class CourierMessage: Sendable {
  let wake: UInt32
  let payload: [UInt8]
  private let answer: Mutex<(@Sendable (Verdict) -> Void)?>

  init(wake: UInt32, payload: [UInt8], answer: @escaping @Sendable (Verdict) -> Void) {
    self.wake = wake
    self.payload = payload
    self.answer = Mutex(answer)
  }

  func answered(_ verdict: Verdict) {
    let answer = self.answer.withLock { $0.take() }
    answer?(verdict)
  }

  deinit {
    answered(.later(after: nil, .attempt, Verdict.Reason("the courier's answer was not written")))
  }
}
