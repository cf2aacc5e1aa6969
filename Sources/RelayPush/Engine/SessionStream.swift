/// One stream of a session: what it sends and what has come back. nghttp2 holds its address, so it
/// lives in a table that never moves, and is used again by later streams.
struct SessionStream {
  let index: Int
  private let bodyBytesMax: Int
  /// nil while free.
  private(set) var attempt: AttemptID?
  /// Kept until the end: nghttp2 reads from it, in place.
  private(set) var request: Request?
  /// HTTP/2's number.
  var id: Int32 = 0
  /// How much of the request's body has been read.
  var bodySent = 0
  /// The peer was never told of this stream.
  var isUnsent = false
  /// 0 until the answer begins.
  var status = 0
  private var headers: [(name: String, value: String)] = []
  private var body: [UInt8] = []

  init(index: Int, bodyBytesMax: Int) {
    self.index = index
    self.bodyBytesMax = bodyBytesMax
  }

  mutating func begin(_ request: Request, attempt: AttemptID) {
    self.attempt = attempt
    self.request = request
    bodySent = 0
    isUnsent = false
    status = 0
    if !headers.isEmpty { headers = [] }
    if !body.isEmpty { body = [] }
  }

  mutating func end() {
    attempt = nil
    request = nil
  }

  mutating func keep(name: String, value: String) { headers.append((name, value)) }

  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    body.append(contentsOf: bytes.prefix(bodyBytesMax - body.count))
  }

  func response(over link: LinkID) -> Response {
    Response(status: status, headers: headers, body: body, link: link)
  }
}
