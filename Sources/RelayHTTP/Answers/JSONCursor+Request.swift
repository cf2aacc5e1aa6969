import RelayCore
import RelayWire

extension JSONCursor {
  /// Refuses a member that has a meaning in other requests but none in this request, unless the
  /// member is null.
  func refuse(_ key: StaticString, _ why: String) throws(JSONProblem) {
    if let stray = optional(key) { throw stray.problem(why) }
  }

  /// The elements of the list `key`.
  ///
  /// - Throws: a 400 if the list is missing or has more than `most` elements.
  func items(_ key: StaticString, atMost most: Int) throws -> [JSONCursor] {
    let items = try required(key).elements()
    guard items.count <= most else {
      throw WireError(
        .badRequest,
        "\(key) has \(items.count) items, more than \(most); split the batch in halves")
    }
    return items
  }

  func clientID() throws(JSONProblem) -> ClientID {
    guard let client = ClientID(text: try string()) else { throw problem("must be a UUID") }
    return client
  }

  func environment() throws(JSONProblem) -> Environment {
    guard let environment = Environment(name: try string()) else {
      throw problem("must be \"development\" or \"production\"")
    }
    return environment
  }
}
