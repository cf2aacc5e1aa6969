import RelayWire

extension JSONCursor {
  /// Refuses a member that has a meaning elsewhere but none here, unless it is null.
  func refuse(_ key: StaticString, _ why: String) throws(JSONProblem) {
    if let stray = optional(key) { throw stray.problem(why) }
  }

  /// The items of a request.
  func items(_ key: StaticString, atMost most: Int) throws -> [JSONCursor] {
    let items = try required(key).elements()
    guard items.count <= most else {
      throw WireError(
        .badRequest,
        "\(key) has \(items.count) items, more than \(most); split the batch in halves")
    }
    return items
  }
}
