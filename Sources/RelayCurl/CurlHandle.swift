import CCurl
import Foundation

/// One easy handle of libcurl, with the connections that the handle keeps open.
///
/// `@unchecked Sendable`: the handle changes threads between exchanges, and ``HTTPClient`` uses it
/// for one exchange at a time, which libcurl allows.
final class CurlHandle: @unchecked Sendable {
  private let handle: OpaquePointer
  /// The exchange under way. libcurl's callbacks are given the handle, and find the exchange here.
  private var current: Exchange?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Initialises libcurl, which libcurl requires once per process, before any other call.
  private static let global: Void = {
    let result = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    precondition(result == CURLE_OK, "libcurl cannot be initialised: the process has no memory")
  }()

  /// The most bytes of a Unix socket's path, which is the limit of the system.
  private static let socketPathBytesMax = 107

  init() {
    _ = Self.global
    guard let handle = curl_easy_init() else {
      preconditionFailure("libcurl gave no handle: the process has no memory")
    }
    self.handle = OpaquePointer(handle)
  }

  deinit {
    curl_easy_cleanup(curl)
    errorText.deallocate()
  }

  private var curl: UnsafeMutableRawPointer { UnsafeMutableRawPointer(handle) }

  /// Blocks until the answer is complete or the exchange has failed.
  func perform(
    _ request: HTTPRequest, _ exchange: Exchange
  ) -> Result<HTTPAnswer, ClientError> {
    let headers = Self.list(Self.headerLines(request))
    defer { curl_slist_free_all(headers) }
    return run(request, exchange) {
      zr_curl_set_list(curl, CURLOPT_HTTPHEADER, headers)
      return request.body.withUnsafeBytes { bytes in
        setBody(request, bytes)
        return curl_easy_perform(curl)
      }
    } answer: {
      let status = zr_curl_get_long(curl, CURLINFO_RESPONSE_CODE)
      return HTTPAnswer(status: status, headers: answerHeaders(), body: exchange.body)
    }
  }

  /// Looks the host up, connects, and secures the connection, without a request. Blocks until the
  /// connection is secured or one of these steps has failed.
  func connect(
    _ request: HTTPRequest, _ exchange: Exchange
  ) -> Result<ConnectTimes, ClientError> {
    func time(_ info: CURLINFO) -> Duration { .microseconds(zr_curl_get_time(curl, info)) }
    return run(request, exchange) {
      zr_curl_set_long(curl, CURLOPT_CONNECT_ONLY, 1)
      return curl_easy_perform(curl)
    } answer: {
      ConnectTimes(
        lookedUp: time(CURLINFO_NAMELOOKUP_TIME_T), connected: time(CURLINFO_CONNECT_TIME_T),
        secured: time(CURLINFO_APPCONNECT_TIME_T))
    }
  }

  /// Prepares the handle, lets `work` run libcurl, and makes the answer if libcurl succeeds.
  private func run<Answer>(
    _ request: HTTPRequest, _ exchange: Exchange, _ work: () -> CURLcode, answer: () -> Answer
  ) -> Result<Answer, ClientError> {
    if let refusal = Self.refusal(request) { return .failure(refusal) }
    let places = reset(for: request)
    defer { curl_slist_free_all(places) }
    let result = withExtendedLifetime(self) {
      setCallbacks(exchange)
      defer { current = nil }
      return work()
    }
    guard result != CURLE_OK else { return .success(answer()) }
    return .failure(
      ClientError(
        exchange.isCancelled ? CURLE_ABORTED_BY_CALLBACK : result,
        systemError: Int32(zr_curl_get_long(curl, CURLINFO_OS_ERRNO)),
        text: String(cString: errorText), request: request, bytesMax: exchange.bytesMax))
  }

  /// Clears what the last exchange has set, and sets the address.
  ///
  /// - Returns: a list that the handle uses until the exchange has ended; then free it.
  private func reset(for request: HTTPRequest) -> UnsafeMutablePointer<curl_slist>? {
    // `curl_easy_reset` resets all options and keeps the open connections.
    curl_easy_reset(curl)
    errorText[0] = 0
    setAddress(request)
    guard let place = request.connectTo else { return nil }
    let list = Self.list(["::\(place)"])
    zr_curl_set_list(curl, CURLOPT_CONNECT_TO, list)
    return list
  }

  private static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    lines.reduce(nil) { curl_slist_append($0, $1) }
  }

  private func setAddress(_ request: HTTPRequest) {
    zr_curl_set_string(curl, CURLOPT_URL, request.url)
    zr_curl_set_string(curl, CURLOPT_PROTOCOLS_STR, "http,https")
    // The empty string disables the proxies that environment variables name.
    zr_curl_set_string(curl, CURLOPT_PROXY, "")
    if let socket = request.unixSocket {
      zr_curl_set_string(curl, CURLOPT_UNIX_SOCKET_PATH, socket)
    }
    if let roots = request.trustRoots { zr_curl_trust_only(curl, roots) }
    // Signals are unsafe in a process with threads, and timeouts work without signals.
    zr_curl_set_long(curl, CURLOPT_NOSIGNAL, 1)
    // The exchange ends without waiting for a name lookup that gets no answer.
    zr_curl_set_long(curl, CURLOPT_QUICK_EXIT, 1)
    if let (seconds, attoseconds) = request.timeout?.components {
      let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
      zr_curl_set_long(curl, CURLOPT_TIMEOUT_MS, Int(max(1, milliseconds)))
    }
    zr_curl_set_pointer(curl, CURLOPT_ERRORBUFFER, errorText)
  }

  private func setBody(_ request: HTTPRequest, _ bytes: UnsafeRawBufferPointer) {
    if request.method == "HEAD" {
      zr_curl_set_long(curl, CURLOPT_NOBODY, 1)
    } else if !bytes.isEmpty || request.method != "GET" {
      zr_curl_set_long(curl, CURLOPT_POST, 1)
      zr_curl_set_long(curl, CURLOPT_POSTFIELDSIZE, bytes.count)
      // libcurl does not copy these bytes; the caller keeps them until the exchange has ended. A
      // null pointer would make libcurl read the body from a callback.
      let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
      zr_curl_set_pointer(curl, CURLOPT_POSTFIELDS, start ?? UnsafeMutableRawPointer(errorText))
    }
    zr_curl_set_string(curl, CURLOPT_CUSTOMREQUEST, request.method)
  }

  private func setCallbacks(_ exchange: Exchange) {
    current = exchange
    let context = Unmanaged.passUnretained(self).toOpaque()
    zr_curl_set_write(
      curl,
      { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        return handle.received(UnsafeRawBufferPointer(start: bytes, count: size * count))
      }, context)
    zr_curl_set_progress(
      curl,
      { context, _, _, _, _ in
        guard let context else { return 0 }
        let handle = Unmanaged<CurlHandle>.fromOpaque(context).takeUnretainedValue()
        return handle.current?.isCancelled == false ? 0 : 1
      }, context)
  }

  private func received(_ bytes: UnsafeRawBufferPointer) -> Int {
    let status = zr_curl_get_long(curl, CURLINFO_RESPONSE_CODE)
    return current?.take(bytes, isSuccess: (200...299).contains(status)) ?? 0
  }

  private func answerHeaders() -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    var last: UnsafeMutablePointer<curl_header>?
    while let header = curl_easy_nextheader(curl, UInt32(CURLH_HEADER), -1, last) {
      headers.append(
        (String(cString: header.pointee.name).lowercased(), String(cString: header.pointee.value)))
      last = header
    }
    return headers
  }

  /// The header lines to send. An empty `Expect` prevents libcurl from waiting for "100 Continue"
  /// before it sends a larger body.
  private static func headerLines(_ request: HTTPRequest) -> [String] {
    var lines = request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    let names = Set(request.headers.map { $0.name.lowercased() })
    if !names.contains("expect") { lines.append("Expect:") }
    // Without this line libcurl labels every body as a web form.
    if !names.contains("content-type") {
      lines.append(request.body.isEmpty ? "Content-Type:" : "Content-Type: application/json")
    }
    return lines
  }

  /// The error for a request that has a line break or a zero byte in its method, URL or headers, or
  /// whose socket path is empty or too long; `nil` means that the request has none of these faults.
  private static func refusal(_ request: HTTPRequest) -> ClientError? {
    let lines = [request.method, request.url] + request.headers.flatMap { [$0.name, $0.value] }
    if lines.contains(where: { $0.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 } }) {
      return ClientError(
        code: .badRequest, message: "a line break stands in the request to \(request.place)",
        remedy: "take it out of the method, the address and the headers")
    }
    if let socket = request.unixSocket, !(1...socketPathBytesMax).contains(socket.utf8.count) {
      return ClientError(
        code: .badRequest,
        message: "the socket path \(socket) has not 1 to \(socketPathBytesMax) bytes",
        remedy: "choose another path for the socket")
    }
    return nil
  }
}
