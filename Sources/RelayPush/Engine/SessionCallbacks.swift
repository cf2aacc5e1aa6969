import CNghttp2

/// nghttp2's callbacks for `Session`. Each callback finds its session or stream and passes the
/// event on.
enum SessionCallbacks {
  /// A client session that reports to `owner`. The owner must outlive the session and delete it.
  static func makeClient(for owner: Session) -> OpaquePointer {
    var made: OpaquePointer?
    nghttp2_session_callbacks_new(&made)
    guard let callbacks = made else { preconditionFailure("no memory for an HTTP/2 session") }
    defer { nghttp2_session_callbacks_del(callbacks) }
    nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onClose)
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, onNotSent)

    var session: OpaquePointer?
    nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(owner).toOpaque())
    guard let session else { preconditionFailure("no memory for an HTTP/2 session") }
    var settings = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, 1)
    return session
  }

  /// Copies the next part of a request's body into a DATA frame.
  static let readBody: nghttp2_data_source_read_callback = {
    _, _, buffer, length, flags, source, owner in
    guard let buffer, let flags, let owner, let address = source?.pointee.ptr else { return 0 }
    let session = SessionCallbacks.owner(of: owner)
    let stream = address.assumingMemoryBound(to: SessionStream.self)
    guard let request = stream.pointee.request else { return 0 }
    let left = request.bodyCount - stream.pointee.bodySent
    // A pause ends the DATA frames of this drain; all other frames that may leave have left
    // already. The next drain begins with the same body.
    guard !session.mustWait(stream.pointee, bytes: left, room: length) else {
      return Int(NGHTTP2_ERR_PAUSE.rawValue)
    }
    let count = min(length, left)
    buffer.update(from: request.body + stream.pointee.bodySent, count: count)
    stream.pointee.bodySent += count
    if stream.pointee.isWhole {
      flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      if let attempt = stream.pointee.attempt { session.bodyRead(attempt) }
    }
    return count
  }

  private static let onHeader: nghttp2_on_header_callback = {
    session, frame, name, nameLength, value, valueLength, _, owner in
    guard let frame, let name, let value, let owner,
      let stream = stream(session, frame.pointee.hd.stream_id)
    else { return 0 }
    if name[0] == UInt8(ascii: ":") {
      var status = 0
      for index in 0..<valueLength { status = status * 10 + Int(value[index] & 0x0f) }
      // A 1xx status precedes the answer and is not the answer.
      if status >= 200 { stream.pointee.status = status }
      return 0
    }
    let names = SessionCallbacks.owner(of: owner).keptNames
    for kept in names where kept.count == nameLength {
      let name = UnsafeBufferPointer(start: name, count: nameLength)
      guard kept.elementsEqual(name) else { continue }
      let value = UnsafeBufferPointer(start: value, count: valueLength)
      stream.pointee.headers.append(
        (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    return 0
  }

  private static let onData: nghttp2_on_data_chunk_recv_callback = {
    session, _, id, bytes, count, owner in
    guard let bytes, let owner, let stream = stream(session, id) else { return 0 }
    let room = SessionCallbacks.owner(of: owner).bodyBytesMax - stream.pointee.body.count
    stream.pointee.body.append(
      contentsOf: UnsafeBufferPointer(start: bytes, count: min(count, room)))
    return 0
  }

  private static let onClose: nghttp2_on_stream_close_callback = { session, id, code, owner in
    guard let owner, let stream = stream(session, id) else { return 0 }
    SessionCallbacks.owner(of: owner).streamClosed(stream, code: code)
    return 0
  }

  private static let onFrame: nghttp2_on_frame_recv_callback = { session, frame, owner in
    guard let frame, let owner else { return 0 }
    let header = frame.pointee.hd
    if header.type == UInt8(NGHTTP2_SETTINGS.rawValue) {
      guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return 0 }
      SessionCallbacks.owner(of: owner).settingsReceived()
    } else if header.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
      let goAway = frame.pointee.goaway
      SessionCallbacks.owner(of: owner).goAwayReceived(
        code: goAway.error_code,
        debug: UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len))
    } else if header.type <= UInt8(NGHTTP2_HEADERS.rawValue),
      header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
      let stream = stream(session, header.stream_id)
    {
      SessionCallbacks.owner(of: owner).answerEnded(stream)
    }
    return 0
  }

  /// nghttp2 calls this for request headers that it did not send. It closes the stream next, and
  /// the request may use another connection.
  private static let onNotSent: nghttp2_on_frame_not_send_callback = { session, frame, _, _ in
    guard let frame, frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue),
      let stream = stream(session, frame.pointee.hd.stream_id)
    else { return 0 }
    stream.pointee.isUnsent = true
    return 0
  }

  private static func owner(of pointer: UnsafeMutableRawPointer) -> Session {
    Unmanaged<Session>.fromOpaque(pointer).takeUnretainedValue()
  }

  private static func stream(
    _ session: OpaquePointer?, _ id: Int32
  ) -> UnsafeMutablePointer<SessionStream>? {
    nghttp2_session_get_stream_user_data(session, id)?
      .assumingMemoryBound(to: SessionStream.self)
  }
}
