import CCurl
import Foundation

extension ClientError {
  /// Makes the error for a failed transfer, from libcurl's result and the system's error number.
  init(_ result: CURLcode, systemError: Int32, text: String, request: HTTPRequest, bytesMax: Int) {
    let target = request.unixSocket.map { "the socket \($0)" } ?? request.place
    let reason = text.isEmpty ? String(cString: curl_easy_strerror(result)) : text
    switch result {
    case CURLE_COULDNT_CONNECT:
      self.init(connecting: target, systemError, reason)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(
        code: .timeout, message: "no answer from \(target) within \(request.timeout ?? .zero)",
        remedy: "see whether the server is overloaded, then try again")
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(
        code: .noHost, message: "the host of \(target) has no address: \(reason)",
        remedy: "correct the host name")
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CERTPROBLEM:
      self.init(
        code: .tls, message: "no secure connection to \(target): \(reason)",
        remedy: "check the certificate of the server and the authorities that are trusted")
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
      CURLE_HTTP2_STREAM:
      self.init(
        code: .connectionLost, message: "the connection to \(target) ended early: \(reason)",
        remedy: "send the request again, with the same ids if it changes anything")
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
      self.init(
        code: .badRequest, message: "\(request.place) is no address to send to: \(reason)",
        remedy: "give an http or https URL")
    case CURLE_WRITE_ERROR:
      self.init(
        code: .answerTooLarge,
        message: "the answer of \(target) is longer than \(bytesMax) bytes",
        remedy: "ask for less at once")
    case CURLE_ABORTED_BY_CALLBACK:
      self.init(
        code: .cancelled, message: "the request to \(target) was given up",
        remedy: "send it again if it is still wanted")
    default:
      self.init(
        code: .failed, message: "the request to \(target) failed: \(reason)",
        remedy: "check the address and the server")
    }
  }

  private init(connecting target: String, _ systemError: Int32, _ reason: String) {
    switch systemError {
    case ENOENT:
      self.init(
        code: .noSocket, message: "\(target) does not exist",
        remedy: "start the daemon, or name the socket that it uses")
    case EACCES, EPERM:
      self.init(
        code: .forbidden, message: "this user may not connect to \(target)",
        remedy: "run as the user of the daemon, or as root")
    default:
      let isRefused = systemError == ECONNREFUSED
      self.init(
        code: .refused,
        message: isRefused
          ? "no program listens on \(target)" : "cannot connect to \(target): \(reason)",
        remedy: "start the server, or name the address that it uses")
    }
  }
}
