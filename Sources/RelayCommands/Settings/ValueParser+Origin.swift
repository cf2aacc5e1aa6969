/// The origin of web pages. The API compares it character by character with a browser's value.
extension ValueParser where Value == String {
  static var origin: ValueParser {
    any.checked { text throws(ValueError) in
      guard let cause = OriginText(text).problem else { return }
      throw ValueError(
        cause,
        remedy: "write https://host or https://host:port, as browsers send it: in lower case, "
          + "without a path and without the port 443; http:// is for localhost")
    }
  }
}

/// A text, and those parts of an origin that were found in it.
private struct OriginText {
  let text: String
  private let scheme: Substring
  /// The host and the port.
  private let authority: Substring
  private let host: Substring
  /// The port with its colon; nil if there is none.
  private let port: Substring?

  init(_ text: String) {
    self.text = text
    let start = text.firstRange(of: "://")
    scheme = start.map { text[..<$0.lowerBound] } ?? ""
    let authority = start.map { text[$0.upperBound...] } ?? text[...]
    self.authority = authority
    // The colons of an IPv6 address are in brackets.
    let end = authority.lastIndex(of: "]") ?? authority.startIndex
    let colon = authority[end...].firstIndex(of: ":")
    host = authority[..<(colon ?? authority.endIndex)]
    port = colon.map { authority[$0...] }
  }

  /// Why no browser sends this origin, or why it is not allowed; nil if the origin is valid.
  var problem: String? {
    if text == "*" { return "'*' names no origin; list each origin whose pages may ask" }
    if text == "null" { return "'null' names no origin: many pages send it" }
    guard scheme == "https" || scheme == "http" else {
      return "'\(text)' does not begin with https://"
    }
    guard !authority.contains(where: { "/?#@".contains($0) }) else {
      return "'\(text)' has more than scheme, host and port"
    }
    guard isHost else { return "'\(text)' names no host in lower case" }
    guard isPort else { return "'\(text)' has a port that no browser sends" }
    guard scheme == "https" || isLocal else {
      return "'\(text)' is not encrypted: its pages can be changed on their way"
    }
    return nil
  }

  private var isHost: Bool {
    if host.hasPrefix("[") {
      return host.hasSuffix("]") && host.count > 2
        && host.dropFirst().dropLast().allSatisfy { "0123456789abcdef:.".contains($0) }
    }
    return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-_".contains($0) }
    }
  }

  private var isPort: Bool {
    guard let port else { return true }
    let number = UInt16(port.dropFirst()) ?? 0
    // A browser leaves out the scheme's default port.
    return number > 0 && ":\(number)" == port && number != (scheme == "https" ? 443 : 80)
  }

  private var isLocal: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" || host == "[::1]"
  }
}
