import NIOCore

/// Complete requests as bytes.
enum RequestText {
  static func post(
    _ path: String, token: String?, type: String = "application/json", body: some Sequence<UInt8>
  ) -> ByteBuffer {
    let body = Array(body)
    var buffer = ByteBuffer()
    buffer.reserveCapacity(body.count + 512)
    buffer.writeString("POST \(path) HTTP/1.1\r\nhost: \(Loopback.address)\r\n")
    if let token { buffer.writeString("authorization: Bearer \(token)\r\n") }
    buffer.writeString("content-type: \(type)\r\ncontent-length: \(body.count)\r\n\r\n")
    buffer.writeBytes(body)
    return buffer
  }

  static func get(_ path: String, accept: String = "*/*") -> ByteBuffer {
    ByteBuffer(
      string: "GET \(path) HTTP/1.1\r\nhost: \(Loopback.address)\r\naccept: \(accept)\r\n\r\n")
  }
}

/// Requests to the daemon under measurement.
extension RequestText {
  /// A request of a user's device.
  static func device(_ endpoint: String, token: String, _ body: String = "{}") -> ByteBuffer {
    post("/device/1/\(MeasuredDaemon.scope)/\(endpoint)", token: token, body: body.utf8)
  }

  /// A request of a user about one of the user's databases.
  static func database(
    _ database: String, _ endpoint: String, token: String, _ body: String
  ) -> ByteBuffer {
    post(
      "/database/1/\(MeasuredDaemon.scope)/\(database)/\(endpoint)", token: token, body: body.utf8)
  }

  /// A request of a record server.
  static func events(
    _ body: some Sequence<UInt8>, key: String = MeasuredDaemon.producerKey, isBatch: Bool = true
  ) -> ByteBuffer {
    post(
      "/events/1/\(MeasuredDaemon.scope)", token: key,
      type: "application/cloudevents\(isBatch ? "-batch" : "")+json", body: body)
  }

  /// The request for the changes of one of the user's zones.
  ///
  /// - Parameters:
  ///   - syncToken: the token of the page before; nil asks for the first page.
  ///   - limit: how many changes the page has at most; nil means the daemon's own limit.
  static func page(
    of zone: String, user: String, token: String, after syncToken: String? = nil,
    limit: Int? = nil
  ) -> ByteBuffer {
    let limit = limit.map { #","resultsLimit":\#($0)"# } ?? ""
    let known = syncToken.map { #","syncToken":"\#($0)""# } ?? ""
    return database(
      "private", "changes/zone", token: token,
      #"{"zones":[{"zoneID":{"zoneName":"\#(zone)","ownerRecordName":"\#(user)"}"#
        + limit + known + "}]}")
  }
}
