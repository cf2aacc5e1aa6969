import CCurl
import Foundation
import RelayCore

/// One easy handle of libcurl, used for one request after another. Only the engine's thread uses
/// it.
final class WebHandle {
  let easy: UnsafeMutableRawPointer
  private var lines: UnsafeMutablePointer<curl_slist>?
  private var reach = WebRequest.Reach.internet
  private var hasRefused = false
  private var body: [UInt8] = []
  private static let bodyBytesMax = 65_536

  init() {
    guard let easy = curl_easy_init() else {
      preconditionFailure("libcurl gave no handle: the process has no memory")
    }
    self.easy = easy
  }

  deinit {
    curl_slist_free_all(lines)
    curl_easy_cleanup(easy)
  }

  func reset() {
    curl_easy_reset(easy)
    curl_slist_free_all(lines)
    lines = nil
    body.removeAll(keepingCapacity: true)
    hasRefused = false
  }

  func prepare(_ request: WebRequest) throws(TransportFailure) {
    let texts = request.headers + [request.url]
    guard !texts.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }) else {
      throw TransportFailure(.invalid, "a control character stands in the request")
    }
    reach = request.reach
    // An empty `Expect` keeps libcurl from waiting for "100 Continue".
    for line in request.headers + ["Expect:"] { lines = curl_slist_append(lines, line) }
    zr_curl_set_list(easy, CURLOPT_HTTPHEADER, lines)
    zr_curl_set_string(easy, CURLOPT_URL, request.url)
    zr_curl_set_string(
      easy, CURLOPT_PROTOCOLS_STR, request.reach == .internet ? "https" : "http,https")
    // The empty string disables the proxies of the process's environment.
    zr_curl_set_string(easy, CURLOPT_PROXY, "")
    if let roots = request.trustRoots { zr_curl_trust_only(easy, roots) }
    zr_curl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    // libcurl must not use signals in a process with threads; timeouts work without them.
    zr_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // A lookup at a silent name server must not block the thread when the request is given up.
    zr_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)
    // Some versions of libcurl (7.88: "Error in the HTTP2 framing layer") lose requests when many
    // share an HTTP/2 connection. Every push service supports HTTP/1.1.
    zr_curl_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    zr_curl_set_long(easy, CURLOPT_POST, 1)
    zr_curl_set_long(easy, CURLOPT_POSTFIELDSIZE, request.body.count)
    // libcurl copies the body.
    _ = request.body.withUnsafeBytes { bytes in
      zr_curl_set_pointer(
        easy, CURLOPT_COPYPOSTFIELDS,
        UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(easy)))
    }
    setCallbacks()
  }

  private func setCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    zr_curl_set_write(
      easy,
      { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let handle = Unmanaged<WebHandle>.fromOpaque(context).takeUnretainedValue()
        return handle.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
      }, context)
    zr_curl_set_open(
      easy,
      { context, _, address in
        guard let context, let address else { return zr_curl_no_socket() }
        return Unmanaged<WebHandle>.fromOpaque(context).takeUnretainedValue().open(address)
      }, context)
  }

  /// Keeps bytes of the answer's body. Returns 0, which ends the transfer, if the body gets too
  /// long: no honest push service answers with so many bytes.
  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard body.count + bytes.count <= Self.bodyBytesMax else { return 0 }
    body.append(contentsOf: bytes)
    return bytes.count
  }

  /// libcurl calls this before each connection, with the address that the name resolved to.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    if reach == .internet {
      var bytes = [UInt8](repeating: 0, count: 16)
      let count = Int(zr_curl_address_bytes(address, &bytes))
      guard InternetAddress.isPublic(Array(bytes[..<count])) else {
        hasRefused = true
        return zr_curl_no_socket()
      }
    }
    return zr_curl_open_socket(address)
  }

  /// True if some of the request may have reached the host.
  var hasSent: Bool { zr_curl_get_long(easy, CURLINFO_REQUEST_SIZE) > 0 }

  /// The failure of a request whose time ended before libcurl finished it.
  var expiry: TransportFailure {
    hasSent
      ? TransportFailure(.timeout, "no answer in time")
      : TransportFailure(.unreachable, "unreachable: no connection in time")
  }

  func outcome(_ result: CURLcode, _ limits: WebLimits) -> Outcome {
    let status = zr_curl_get_long(easy, CURLINFO_RESPONSE_CODE)
    // The status is valid even if libcurl stopped because the body was too long.
    if status >= 200, result == CURLE_OK || result == CURLE_WRITE_ERROR {
      let wish = zr_curl_header(easy, "retry-after").map { String(cString: $0) }
      return .answered(
        Response(
          status: status, headers: wish.map { [("retry-after", $0)] } ?? [],
          body: Array(body.prefix(limits.bodyBytesMax))))
    }
    // libcurl's error buffer is not used because it names the host.
    let reason = String(cString: curl_easy_strerror(result))
    if hasRefused, result == CURLE_COULDNT_CONNECT {
      return .failed(TransportFailure(.address, "the endpoint's address is not a public one"))
    }
    let code: TransportFailure.Code =
      switch result {
      // The host may have processed a request that was sent, whatever went wrong later.
      case CURLE_OPERATION_TIMEDOUT where hasSent: .timeout
      case _ where hasSent: .lost
      case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalid
      default: .unreachable
      }
    return .failed(TransportFailure(code, "\(code.rawValue): \(reason)"))
  }
}
