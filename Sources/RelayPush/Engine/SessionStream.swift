/// One stream of a session: its request and the answer so far. nghttp2 holds the stream's address,
/// so the stream is an entry of a table that never moves. Later streams use the entry again.
struct SessionStream {
  let index: Int
  private let bodyBytesMax: Int
  /// The attempt that uses the stream; nil while the entry is free.
  private(set) var attempt: AttemptID?
  /// The request, kept until the stream ends because nghttp2 reads the request's bytes in place.
  private(set) var request: Request?
  /// HTTP/2's stream number.
  var id: Int32 = 0
  /// Body bytes that nghttp2 has read.
  var bodySent = 0
  /// True if the peer never received this stream's headers.
  var isUnsent = false
  /// The answer's status; 0 until the answer begins.
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
