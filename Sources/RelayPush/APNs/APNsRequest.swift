package import RelayCore

/// A push in the form that APNs requires.
package enum APNsRequest {
  package static let shape = RequestShape(
    fields: [
      .init("authorization", repeats: true),
      .init("apns-id", repeats: false),
      .init("apns-topic", repeats: true),
      .init("apns-push-type", repeats: true),
      .init("apns-priority", repeats: true),
      .init("apns-expiration", repeats: false),
      .init("apns-collapse-id", repeats: false),
    ],
    kept: ["retry-after"], probation: true)

  /// - Parameter bearer: nil on connections that authenticate with a certificate.
  package static func make(_ push: Push, topic: String, bearer: String?) -> Request {
    let room =
      pathPrefix.utf8.count + push.address.token.count * 2 + (bearer?.utf8.count ?? 0)
      + topic.utf8.count + (push.collapse?.utf8.count ?? 0) + fixedBytes
    return Request(shape, valueBytes: room, body: push.payload) { values in
      values.write(pathPrefix)
      for byte in push.address.token {
        values.write(byte: Hex.digit(byte >> 4))
        values.write(byte: Hex.digit(byte))
      }
      values.end()
      values.value(bearer)
      values.write(push.id)
      values.end()
      values.value(topic)
      switch push.intent {
      case .background:
        values.value("background")
        values.value("5")
      case .alert:
        values.value("alert")
        values.value("10")
      }
      values.value(String(push.expires.milliseconds / 1_000))
      values.value(push.collapse)
    }
  }

  private static let pathPrefix = "/3/device/"
  /// The most bytes of id (36), push type (10), priority (2) and expiration (20) together. The
  /// length of each other value is counted for each push.
  private static let fixedBytes = 68
}
