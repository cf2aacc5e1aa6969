import CNghttp2
import NIOCore

/// One HTTP/2 client session. It takes requests and received bytes, and gives events and bytes to
/// send. It has no sockets, clock or policy; nghttp2 implements the protocol.
///
/// `@unchecked Sendable`: one `ProviderConnection` owns the session and uses it on its event loop
/// only.
final class Session: @unchecked Sendable {
  /// What the peer did, in order.
  enum Event {
    /// The number of streams that the peer allows. The event comes whenever the number may have
    /// changed.
    case allowed(Int)
    /// The peer accepts no new streams; those it did not process end with `.unprocessed`.
    case goAway(String)
    case ended(AttemptID, End)
  }

  enum End {
    case answered(Response)
    /// The peer certainly did not process the request, so it can be sent again safely.
    case unprocessed
    /// `isWhole` is whether the whole request had left; if not, the peer cannot have taken it.
    case reset(String, isWhole: Bool)
  }

  let link: LinkID
  let keptNames: [[UInt8]]
  let bodyBytesMax: Int
  private var events: [Event] = []
  private var bodiesRead: [AttemptID] = []
  private let streams: UnsafeMutablePointer<SessionStream>
  private let streamsMax: Int
  private var freeStreams: [Int]
  private let fields: FieldArray
  private var session: OpaquePointer!

  /// - Parameter streamsMax: the most requests that the caller has open at once.
  init(
    shape: RequestShape, authority: String, link: LinkID, streamsMax: Int, bodyBytesMax: Int
  ) {
    (self.link, self.streamsMax, self.bodyBytesMax) = (link, streamsMax, bodyBytesMax)
    keptNames = shape.kept.map { Array($0.utf8) }
    streams = .allocate(capacity: streamsMax)
    for index in 0..<streamsMax {
      (streams + index).initialize(to: SessionStream(index: index))
    }
    freeStreams = Array((0..<streamsMax).reversed())
    fields = FieldArray(shape: shape, authority: authority)
    session = SessionCallbacks.makeClient(for: self)
  }

  deinit {
    nghttp2_session_del(session)
    streams.deinitialize(count: streamsMax)
    streams.deallocate()
  }

  /// Begins a stream; the next `drain` returns its frames. Returns the stream's index for `cancel`;
  /// nil if the session can begin no more streams.
  func submit(_ request: Request, attempt: AttemptID) -> Int? {
    guard let index = freeStreams.popLast() else { return nil }
    let stream = streams + index
    stream.pointee = SessionStream(index: index, attempt: attempt, request: request)
    var source = nghttp2_data_provider()
    source.source.ptr = UnsafeMutableRawPointer(stream)
    source.read_callback = SessionCallbacks.readBody
    let id = fields.withRequest(request) { values, count in
      withUnsafePointer(to: &source) { source in
        nghttp2_submit_request(
          session, nil, values, count, request.bodyCount > 0 ? source : nil,
          UnsafeMutableRawPointer(stream))
      }
    }
    guard id > 0 else {
      release(index)
      return nil
    }
    stream.pointee.id = id
    return index
  }

  /// Resets a stream. The session still reports the stream's end as an event.
  ///
  /// - Returns: whether the whole request had left; true if the stream has ended already.
  @discardableResult
  func cancel(_ index: Int, attempt: AttemptID) -> Bool {
    guard streams[index].attempt == attempt else { return true }
    nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streams[index].id, NGHTTP2_CANCEL.rawValue)
    return streams[index].isWhole
  }

  func ping() { nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

  /// Queues a GOAWAY frame.
  func goAway() {
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, NGHTTP2_NO_ERROR.rawValue, nil, 0)
  }

  /// Processes bytes of the peer. After an error the session is unusable.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(SessionError) {
    guard let first = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    let taken = nghttp2_session_mem_recv(session, first, bytes.count)
    guard taken == bytes.count else { throw SessionError(code: Int32(taken)) }
  }

  /// Moves every frame that may leave now into `buffer`.
  func drain(into buffer: inout ByteBuffer) throws(SessionError) {
    while true {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count >= 0 else { throw SessionError(code: Int32(count)) }
      guard count > 0, let bytes else { return }
      buffer.writeBytes(UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }

  /// True if the session neither sends nor receives any more.
  var isOver: Bool {
    nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
  }

  /// Requests whose last byte `drain` has returned since the previous call.
  func takeWritten() -> [AttemptID] {
    guard !bodiesRead.isEmpty else { return [] }
    defer { bodiesRead.removeAll(keepingCapacity: true) }
    return bodiesRead
  }

  /// Events since the previous call.
  func takeEvents() -> [Event] {
    guard !events.isEmpty else { return [] }
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }

  /// The attempts whose streams have not ended, and whether the whole request of each had left.
  /// Called when the connection has ended.
  func abandon() -> [(attempt: AttemptID, isWhole: Bool)] {
    (0..<streamsMax).compactMap { index in
      guard let attempt = streams[index].attempt else { return nil }
      defer { streams[index] = SessionStream(index: index) }
      return (attempt, streams[index].isWhole)
    }
  }

  // MARK: - From nghttp2

  func streamClosed(_ stream: UnsafeMutablePointer<SessionStream>, code: UInt32) {
    guard let attempt = stream.pointee.attempt else { return }
    let end: End
    if stream.pointee.status != 0, stream.pointee.isAnswered || stream.pointee.isWhole {
      // A reset after the status of an answer does not change the answer, if the peer may have
      // taken the request.
      end = .answered(
        Response(
          status: stream.pointee.status, headers: stream.pointee.headers,
          body: stream.pointee.body, link: link))
    } else if stream.pointee.isUnsent || code == NGHTTP2_REFUSED_STREAM.rawValue {
      end = .unprocessed
    } else {
      let name = String(cString: nghttp2_http2_strerror(code))
      end = .reset(name, isWhole: stream.pointee.isWhole)
    }
    events.append(.ended(attempt, end))
    release(stream.pointee.index)
  }

  /// The peer's answer is complete. The rest of a request that has not left is not needed any more
  /// (RFC 9113, section 8.1), so its stream ends now.
  func answerEnded(_ stream: UnsafeMutablePointer<SessionStream>) {
    stream.pointee.isAnswered = true
    guard let attempt = stream.pointee.attempt, !stream.pointee.isWhole else { return }
    cancel(stream.pointee.index, attempt: attempt)
  }

  func bodyRead(_ attempt: AttemptID) { bodiesRead.append(attempt) }

  /// Whether a body must wait because the connection's window has room for only a part of it; all
  /// later bodies then wait behind it. Otherwise nghttp2 would send that part, and then all later
  /// requests before the rest: on a busy connection the rest would wait until its attempt's
  /// deadline. A body that the stream's own window divides does not wait.
  ///
  /// - Parameter room: the most bytes that the next DATA frame may have.
  func mustWait(_ stream: SessionStream, bytes: Int, room: Int) -> Bool {
    room < bytes && nghttp2_session_get_stream_remote_window_size(session, stream.id) >= bytes
      && nghttp2_session_get_remote_window_size(session) < bytes
  }

  func settingsReceived() {
    let streams = nghttp2_session_get_remote_settings(
      session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    events.append(.allowed(Int(streams)))
  }

  func goAwayReceived(code: UInt32, debug: UnsafeBufferPointer<UInt8>) {
    let text = String(decoding: debug.prefix(200), as: UTF8.self)
    let name = String(cString: nghttp2_http2_strerror(code))
    events.append(.goAway(text.isEmpty ? name : "\(name) \(text)"))
  }

  private func release(_ index: Int) {
    streams[index] = SessionStream(index: index)
    freeStreams.append(index)
  }
}

/// One stream of a session: its request and the answer so far. nghttp2 holds the stream's address,
/// so the stream is an entry of a table that never moves. Later streams use the entry again.
struct SessionStream {
  let index: Int
  /// The attempt that uses the stream; nil while the entry is free.
  var attempt: AttemptID?
  /// The request, kept until the stream ends because nghttp2 reads the request's bytes in place.
  var request: Request?
  /// HTTP/2's stream number.
  var id: Int32 = 0
  /// Body bytes that nghttp2 has read.
  var bodySent = 0
  /// True if the peer never received this stream's headers.
  var isUnsent = false
  /// True if the answer is complete.
  var isAnswered = false
  /// The answer's status; 0 until the answer begins.
  var status = 0
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []

  /// Whether nghttp2 has read the whole request. If not, the peer has not received its end.
  var isWhole: Bool { bodySent == request?.bodyCount ?? 0 }
}

/// nghttp2 reported an error that ends the session.
struct SessionError: Error, CustomStringConvertible {
  let code: Int32
  var description: String { "HTTP/2 session failed: \(String(cString: nghttp2_strerror(code)))" }
}
