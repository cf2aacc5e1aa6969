import HTTPTypes
import Hummingbird
import NIOCore
import RelayEngine
import RelayWire

extension Response {
  /// An answer with a JSON body. Its headers tell caches not to store the answer, because it is for
  /// one caller and may be out of date at once.
  init(_ json: JSONWriter, status: HTTPResponse.Status = .ok) {
    self.init(
      status: status, headers: Self.jsonHeaders,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
  }

  /// An answer with a JSON body. Once the whole body is written, `relay` gets a report of
  /// `readings`, which are what a device has read. A page that is only partly sent acknowledges
  /// nothing.
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

  static var emptyObject: Response { Response(.object(capacity: 2) { _ in }) }

  /// An answer whose text was written without a `JSONWriter`.
  init(text: String, type: String) {
    self.init(
      status: .ok, headers: [.cacheControl: "no-store", .contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  private static let jsonHeaders: HTTPFields = [
    .cacheControl: "no-store", .contentType: "application/json",
  ]
}
