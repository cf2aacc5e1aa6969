import Crypto
import Foundation
package import RelayCore
import RelayWire

/// One delivery, signed as Standard Webhooks 1.0 demands, so that servers can verify the delivery
/// with a library of their language. The request also carries the ids of the keys, for servers that
/// choose a key by id.
package struct WebhookRequest: Sendable {
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  package var timeout: Span
  package var trustRoots: String?

  /// - Parameter delivery: the items to send. Equal deliveries make equal bodies and, with equal
  ///   keys, equal ids.
  init(
    _ delivery: FeedbackDelivery, to settings: WebhookSettings, at now: Instant, version: String
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let bytes = [UInt8](try encoder.encode(delivery))
    // The signature covers this id, which contains the key's id. So neither id can be changed in
    // transit.
    // The last item's position distinguishes a delivery from a longer delivery that begins with the
    // same item.
    let id = [
      settings.keys.first?.id ?? "", delivery.items.first?.id ?? "",
      "\(delivery.items.last?.position ?? 0)",
    ].joined(separator: "_")
    let timestamp = "\(now.milliseconds / 1_000)"
    let signatures = settings.keys.map { key in
      "v1," + Self.signature(of: bytes, id: id, timestamp: timestamp, key: key.bytes)
    }
    url = settings.url
    body = bytes
    timeout = settings.timeout
    trustRoots = settings.trustRoots
    headers = [
      ("Content-Type", "application/json"), ("User-Agent", "zonerelay/\(version)"),
      ("webhook-id", id), ("webhook-timestamp", timestamp),
      ("webhook-key-id", settings.keys.map(\.id).joined(separator: " ")),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }

  /// Base64 of HMAC-SHA256 over `id.timestamp.body`.
  private static func signature(
    of body: [UInt8], id: String, timestamp: String, key: [UInt8]
  ) -> String {
    var code = HMAC<SHA256>(key: SymmetricKey(data: key))
    code.update(data: Array("\(id).\(timestamp).".utf8))
    code.update(data: body)
    return Data(code.finalize()).base64EncodedString()
  }
}

/// Carries deliveries to servers. The daemon's carrier uses libcurl; tests use scripted answers.
package protocol WebhookCarrier: Sendable {
  /// Sends once and follows no redirect.
  ///
  /// - Throws: `WebhookFailure` if there is no answer; the server may still have received the
  ///   delivery. Ends within a second when the task is cancelled.
  func carry(_ request: WebhookRequest) async throws(WebhookFailure) -> WebhookAnswer
}

package struct WebhookAnswer: Hashable, Sendable {
  package var status: Int
  /// How long the server asks the relay to wait; nil if the server gives no time.
  package var retryAfter: Span?

  package init(status: Int, retryAfter: Span? = nil) {
    self.status = status
    self.retryAfter = retryAfter
  }
}

package struct WebhookFailure: Error, Hashable, Sendable {
  package var reason: String
  package init(_ reason: String) { self.reason = reason }
}
