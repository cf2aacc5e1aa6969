import HTTPTypes
import Hummingbird
import NIOCore
import RelayEngine
import RelayWire

extension Response {
  /// The headers tell caches not to store the answer: it is for one caller, and may be out of date
  /// at once.
  init(_ json: JSONWriter, status: HTTPResponse.Status = .ok) {
    self.init(
      status: status, headers: Self.jsonHeaders,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
  }

  /// Tells `relay` what a device has read, once the whole body is written: a page that breaks off
  /// on its way acknowledges nothing.
  init(_ json: JSONWriter, served readings: [Reading], to relay: any RelayService) {
    guard !readings.isEmpty else {
      self.init(json)
      return
    }
    let buffer = ByteBuffer(bytes: json.bytes)
    let body = ResponseBody(contentLength: buffer.readableBytes) { writer in
      try await writer.write(buffer)
      try await writer.finish(nil)
      for reading in readings { relay.served(reading) }
    }
    self.init(status: .ok, headers: Self.jsonHeaders, body: body)
  }

  static var emptyObject: Response {
    var json = JSONWriter(capacity: 2)
    json.beginObject()
    json.endObject()
    return Response(json)
  }

  /// An answer that has no body, or whose text was written without a `JSONWriter`.
  init(text: String, type: String) {
    self.init(
      status: .ok, headers: [.cacheControl: "no-store", .contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  private static let jsonHeaders: HTTPFields = [
    .cacheControl: "no-store", .contentType: "application/json",
  ]
}
