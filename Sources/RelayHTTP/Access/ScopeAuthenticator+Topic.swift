import RelayWire

extension ScopeAuthenticator {
  /// The APNs topic that a request names, or this environment's only topic if the request names
  /// none.
  func topic(in body: JSONCursor) throws -> String {
    let known =
      topics.isEmpty
      ? "this environment has no APNs topic"
      : "configured here: \(topics.joined(separator: ", "))"
    guard let named = body.optional("apnsTopic") else {
      guard topics.count == 1 else {
        throw WireError(.badRequest, "apnsTopic is missing; \(known)")
      }
      return topics[0]
    }
    let topic = try named.string()
    guard topics.contains(topic) else {
      throw named.problem("'\(topic)' is unknown; \(known)")
    }
    return topic
  }
}
