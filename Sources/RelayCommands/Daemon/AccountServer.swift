import RelayCurl
import RelayCore
import RelayHTTP

/// Fetches users' key sets over HTTPS. The client follows no redirect, because only the operator
/// may name the server.
struct AccountServer: KeySetSource {
  /// The most bytes of an answer; a larger answer is refused.
  static let bytesMax = 1 << 20
  /// The time from the first step of connecting to the last byte.
  static let timeout = Duration.seconds(10)

  private let client = HTTPClient(answerBytesMax: AccountServer.bytesMax)

  func fetch(_ address: KeySetAddress) async throws(KeySetFailure) -> FetchedKeySet {
    let answer: HTTPAnswer
    do throws(ClientError) {
      answer = try await client.send(Self.request(address))
    } catch {
      throw KeySetFailure(error.message)
    }
    guard answer.status == 200 else {
      throw KeySetFailure("it answered with status \(answer.status)")
    }
    return FetchedKeySet(
      bytes: answer.body, maxAge: answer.header("cache-control").flatMap(Self.age))
  }

  static func request(_ address: KeySetAddress) -> HTTPRequest {
    HTTPRequest(
      "GET", address.url, headers: [(name: "Accept", value: "application/json")],
      timeout: timeout, trustRoots: address.trustRoots)
  }

  /// How long an answer with this `Cache-Control` may be kept; nil if the field names no age.
  static func age(_ text: String) -> Span? {
    for part in text.lowercased().split(separator: ",") {
      let word = part.drop { $0 == " " }
      if word.hasPrefix("no-store") || word.hasPrefix("no-cache") { return .zero }
      guard word.hasPrefix("max-age=") else { continue }
      let digits = word.dropFirst("max-age=".count).prefix { $0.isASCII && $0.isNumber }
      // Nine digits of seconds are over 31 years; the cache applies a smaller maximum.
      return Int64(digits.prefix(9)).map { .seconds($0) }
    }
    return nil
  }
}
