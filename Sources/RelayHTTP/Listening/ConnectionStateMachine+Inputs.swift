package import HTTPTypes
package import NIOCore
package import NIOHTTP1

extension ConnectionStateMachine {
  package enum Input: Sendable {
    case received(HTTPServerRequestPart)
    /// All bytes of one read have been parsed.
    case readEnded
    case writabilityChanged
    /// The client sends no more; it may still read.
    case inputClosed
    case failed(Failure)
    /// The daemon stops.
    case draining
    case closed
    /// The responder waits for the next part of a request's body.
    case bodyAwaited(serial: UInt32)
    /// The current request's body gets less time, because the sender is not known yet.
    case bodyHurried(TimeAmount)
    /// The last part of an answer was written.
    case answerWritten(serial: UInt32)
    /// The last part of an answer has left for the network, or can no longer leave.
    case answerLeft
    case timerFired
  }

  package enum Failure: Sendable {
    /// The parser does not accept the bytes.
    case invalid(WireError)
    /// The bytes ended within a request. `inputClosed` follows.
    case cutOff
    /// Bytes were left that the parser has not looked at.
    case undecoded
    /// An error of the network or of TLS.
    case broken
  }

  package enum Action: Sendable {
    /// Passes a request to the responder.
    case respond(HTTPRequest, ReceivedBody, serial: UInt32)
    /// Answers with the refusal, without the responder.
    case refuse(WireError, serial: UInt32)
    /// Gives the waiting responder the next part of the body; `nil` means that the body is
    /// complete.
    case deliver(ByteBuffer?)
    /// Ends the responder's wait for the body.
    case failBody(any Error)
    /// Tells the holder of the request that the client is gone.
    case tellHolder
    case read
    /// Replaces the timer.
    case setTimer(TimeAmount)
    case closeOutput
    case close
  }

  package enum ReceivedBody: Sendable {
    case complete(ByteBuffer)
    /// Only `first` of the body has arrived. The responder gets each further part when it asks for
    /// the part.
    case arriving(first: ByteBuffer?)
  }

  /// How an answer to the current request is written.
  package struct AnswerForm: Hashable, Sendable {
    /// True if the connection ends with this answer.
    package var isLast: Bool
    package var isOfHTTP10: Bool
    /// True if only the head of the answer is written.
    package var isBodiless: Bool
  }
}

extension HTTPResponseHead {
  /// The head to send. An answer of unknown length to an HTTP/1.0 request uses HTTP/1.0 as well:
  /// its body is not sent in chunks and ends with the connection.
  init(_ head: HTTPResponse, _ form: ConnectionStateMachine.AnswerForm) {
    var headers = HTTPHeaders()
    headers.reserveCapacity(head.headerFields.count + 1)
    for field in head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
    if form.isLast, head.status.code >= 200 { headers.add(name: "Connection", value: "close") }
    self.init(
      version: form.isOfHTTP10 && !headers.contains(name: "content-length") ? .http1_0 : .http1_1,
      status: HTTPResponseStatus(statusCode: head.status.code),
      headers: headers)
  }
}
