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
