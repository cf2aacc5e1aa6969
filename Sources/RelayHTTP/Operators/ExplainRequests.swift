import Hummingbird
import RelayCore
import RelayWire

/// What operators ask in `GET /explain` and `GET /tail`.
extension ControlResponder {
  /// The highest number of changes in one answer.
  private static let explainedMax: UInt64 = 100

  static func explanation(_ request: Request) throws(WireError) -> AdminAPI.ExplainQuery {
    let uri = request.uri.query
    var query = AdminAPI.ExplainQuery()
    query.question.client = try client(uri)
    (query.question.container, query.question.environment) = try scope(uri)
    query.question.zone = try PercentText.parameter("zone", of: uri).map {
      (text) throws(WireError) in try zone(text)
    }
    query.question.record = PercentText.parameter("record", of: uri)
    if let text = PercentText.parameter("last", of: uri) {
      guard let last = UInt64(text), (1...explainedMax).contains(last) else {
        throw WireError(.badRequest, "last must be a number from 1 to \(explainedMax)")
      }
      query.question.last = Int(last)
    }
    switch (PercentText.parameter("source", of: uri), PercentText.parameter("id", of: uri)) {
    case (let source?, let id?): query.event = (source, id)
    case (nil, nil): break
    default: throw WireError(.badRequest, "source and id name a change only together")
    }
    try check(query)
    return query
  }

  private static func check(_ query: AdminAPI.ExplainQuery) throws(WireError) {
    let question = query.question
    if question.record != nil, question.zone?.owner == nil {
      throw WireError(.badRequest, "a record is named with its zone, as zone=OWNER/NAME")
    }
    if query.event != nil, question.zone != nil {
      throw WireError(.badRequest, "a change is named by source and id, or by its zone")
    }
    if query.event == nil, question.client == nil, question.record == nil {
      throw WireError(
        .badRequest, "name a device (device), a change (source and id) or a record (zone, record)")
    }
  }

  private static func client(_ uri: String?) throws(WireError) -> ClientID? {
    guard let named = PercentText.parameter("device", of: uri) else { return nil }
    guard let client = ClientID(text: named) else {
      throw WireError(.badRequest, "device must be a UUID")
    }
    return client
  }

  private static func scope(_ uri: String?) throws(WireError) -> (String?, RelayCore.Environment?) {
    let container = PercentText.parameter("container", of: uri)
    guard let name = PercentText.parameter("environment", of: uri) else { return (container, nil) }
    guard let environment = RelayCore.Environment(name: name) else {
      throw WireError(.badRequest, "environment must be \"development\" or \"production\"")
    }
    return (container, environment)
  }

  private static func zone(_ text: String) throws(WireError) -> TraceSearch.Question.Zone {
    guard let zone = TraceSearch.Question.Zone(text: text) else {
      throw WireError(.badRequest, "zone must be OWNER/NAME")
    }
    return zone
  }

  static func tail(_ request: Request) throws(WireError) -> TailFilter {
    let uri = request.uri.query
    var filter = TailFilter()
    filter.client = try client(uri)
    filter.user = PercentText.parameter("user", of: uri)
    filter.zone = try PercentText.parameter("zone", of: uri).map {
      (text) throws(WireError) in try zone(text)
    }
    filter.route = PercentText.parameter("route", of: uri)
    (filter.container, filter.environment) = try scope(uri)
    return filter
  }
}
