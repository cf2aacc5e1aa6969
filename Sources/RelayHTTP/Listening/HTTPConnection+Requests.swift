import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// A request for the responder, and the connection for its answer.
struct InboundRequest: Sendable {
  let request: Request
  let connection: HTTPConnection
  /// Distinguishes the request from those before and after it on its connection.
  let serial: UInt32
  /// If set, the responder is not called, and this is the answer.
  var refusal: WireError?
}

extension HTTPConnection {
  /// - Returns: false if the part cannot be taken yet.
  func take(_ part: HTTPServerRequestPart) -> Bool {
    switch part {
    case .head(let head):
      guard !isLeaving else { return true }
      // While the client does not read an answer, no further request begins: a waiting request
      // takes less memory than an answer.
      guard underWay == nil, channel.isWritable else { return false }
      begin(head)
      if let wrong = head.framingRefusal {
        refuse(wrong)
      } else if let wrong = head.refusal {
        answer(with: wrong)
      }
      return true
    case .body(let buffer): return take(buffer)
    case .end: return takeEnd()
    }
  }

  private func take(_ buffer: ByteBuffer) -> Bool {
    guard let current = underWay else { return true }
    guard !current.isAnswered else {
      passOver(buffer)
      return true
    }
    if current.head != nil {
      if underWay?.body?.writeImmutableBuffer(buffer) == nil { underWay?.body = buffer }
      return true
    }
    guard let reader = underWay?.reader.take() else { return false }
    reader.resume(returning: buffer)
    return true
  }

  private func takeEnd() -> Bool {
    guard let current = underWay else { return true }
    if current.head != nil {
      underWay?.isRead = true
      handOn()
    } else if current.isAnswered {
      underWay?.isRead = true
      settle()
    } else {
      guard let reader = underWay?.reader.take() else { return false }
      underWay?.isRead = true
      reader.resume(returning: nil)
    }
    return true
  }

  /// Passes the request to the responder. Its head is complete; its body may still be incomplete.
  func handOn() {
    guard let head = underWay?.head.take(), let serial = underWay?.serial else { return }
    let first = underWay?.body.take()
    guard let request = HTTPRequest(head) else {
      return refuse(WireError(HTTPParserError.invalidMethod))
    }
    let body =
      underWay?.isRead == true
      ? RequestBody(buffer: first ?? ByteBuffer())
      : RequestBody(asyncSequence: LateBody(first: first, connection: self, serial: serial))
    ask(
      InboundRequest(request: Request(head: request, body: body), connection: self, serial: serial))
  }

  /// Answers bytes that are no valid request in the same way as a request. Nothing behind them is
  /// read.
  func refuse(_ refusal: WireError) {
    if underWay == nil { begin(nil) }
    isParsed = true
    underWay?.isRead = true
    answer(with: refusal)
  }

  /// Answers with the refusal without calling the responder, and ends the connection after it. The
  /// rest of a body is discarded.
  private func answer(with refusal: WireError) {
    guard let serial = underWay?.serial else { return }
    underWay?.head = nil
    underWay?.isClosing = true
    let request = Request(
      head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"),
      body: RequestBody(buffer: ByteBuffer()))
    ask(InboundRequest(request: request, connection: self, serial: serial, refusal: refusal))
  }

  /// The client sends no more; it may still read. All its complete requests are answered first.
  func inputEnded() {
    isInputClosed = true
    dropUnfinished()
    if underWay?.head != nil { underWay = nil }
    let (reader, onGone) = (underWay?.reader.take(), underWay?.onGone.take())
    reader?.resume(throwing: ChannelError.inputClosed)
    onGone?()
    advance()
  }

  /// The next part of the body; nil after its end.
  func more(of serial: UInt32) async throws -> ByteBuffer? {
    try await withCheckedThrowingContinuation { reader in
      channel.eventLoop.execute {
        guard let current = self.underWay, current.serial == serial, self.channel.isActive else {
          return reader.resume(throwing: ChannelError.inputClosed)
        }
        guard !current.isRead else { return reader.resume(returning: nil) }
        guard !current.isLate else { return reader.resume(throwing: self.lateness) }
        guard !self.isInputClosed || self.isAnyWaiting else {
          return reader.resume(throwing: ChannelError.inputClosed)
        }
        self.underWay?.reader = reader
        self.advance()
      }
    }
  }
}

/// A body that did not arrive with its head. It is read only as fast as the responder reads it.
private struct LateBody: AsyncSequence, Sendable {
  let first: ByteBuffer?
  let connection: HTTPConnection
  let serial: UInt32

  func makeAsyncIterator() -> Iterator {
    Iterator(first: first, connection: connection, serial: serial)
  }

  struct Iterator: AsyncIteratorProtocol {
    var first: ByteBuffer?
    let connection: HTTPConnection
    let serial: UInt32

    mutating func next() async throws -> ByteBuffer? {
      if let first = first.take() { return first }
      return try await connection.more(of: serial)
    }
  }
}

extension HTTPRequest {
  /// Nil if the method is not valid.
  fileprivate init?(_ head: HTTPRequestHead) {
    guard let method = Method(head.method.rawValue) else { return nil }
    var fields = HTTPFields()
    fields.reserveCapacity(head.headers.count)
    var authority: String?
    for (text, value) in head.headers {
      guard let name = HTTPField.Name(text) else { continue }
      // The first `Host` is the authority; the scheme does not matter here.
      if authority == nil, name == .host {
        authority = value
      } else {
        fields.append(HTTPField(name: name, value: value))
      }
    }
    self.init(
      method: method, scheme: "http", authority: authority, path: Self.path(of: head.uri),
      headerFields: fields)
  }

  /// The path of a request target, because a proxy may send the whole URL.
  private static func path(of target: String) -> String {
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
    return target[scheme.upperBound...].firstIndex(of: "/").map { String(target[$0...]) } ?? "/"
  }
}

extension HTTPField.Name {
  fileprivate static let host = Self("Host")!
}
