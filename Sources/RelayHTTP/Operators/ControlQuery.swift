import RelayCore
import RelayWire

/// The parameters of an operator's request.
struct ControlQuery {
  let text: String?

  /// The highest number of items of feedback in one answer. `explainedMax` is the highest number of
  /// explained changes.
  private static let feedbackItemsMax: UInt64 = 1_000
  private static let explainedMax: UInt64 = 100

  subscript(name: String) -> String? { PercentText.parameter(name, of: text) }

  func client(_ name: String) throws(WireError) -> ClientID? {
    try value(name, "a UUID") { ClientID(text: $0) }
  }

  private func number(
    _ name: String, _ range: ClosedRange<UInt64>, default standard: UInt64
  ) throws(WireError) -> UInt64 {
    try value(name, "a number from \(range.lowerBound) to \(range.upperBound)") { text in
      UInt64(text).flatMap { range.contains($0) ? $0 : nil }
    } ?? standard
  }

  private var environment: Environment? {
    get throws(WireError) {
      try value("environment", "\"development\" or \"production\"") { Environment(name: $0) }
    }
  }

  private var zone: TraceSearch.Question.Zone? {
    get throws(WireError) {
      try value("zone", "OWNER/NAME") { TraceSearch.Question.Zone(text: $0) }
    }
  }

  /// The value that `read` returns for a parameter; nil if the parameter is absent.
  private func value<Value>(
    _ name: String, _ wanted: String, _ read: (String) -> Value?
  ) throws(WireError) -> Value? {
    guard let text = self[name] else { return nil }
    guard let value = read(text) else { throw WireError(.badRequest, "\(name) must be \(wanted)") }
    return value
  }

  var feedback: FeedbackQuery {
    get throws(WireError) {
      var query = FeedbackQuery(
        after: FeedbackPosition(try number("after", 0...UInt64(Int64.max), default: 0)),
        limit: Int(try number("limit", 1...Self.feedbackItemsMax, default: 100)),
        container: self["container"])
      query.environment = try environment
      return query
    }
  }

  var tail: TailFilter {
    get throws(WireError) {
      TailFilter(
        client: try client("device"), user: self["user"], zone: try zone, route: self["route"],
        container: self["container"], environment: try environment)
    }
  }

  var explanation: AdminAPI.ExplainQuery {
    get throws(WireError) {
      var query = AdminAPI.ExplainQuery()
      query.question.client = try client("device")
      (query.question.container, query.question.environment) = (self["container"], try environment)
      (query.question.zone, query.question.record) = (try zone, self["record"])
      let last = try number("last", 1...Self.explainedMax, default: UInt64(query.question.last))
      query.question.last = Int(last)
      switch (self["source"], self["id"]) {
      case (let source?, let id?): query.event = (source, id)
      case (nil, nil): break
      default: throw WireError(.badRequest, "source and id name a change only together")
      }
      try Self.check(query)
      return query
    }
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
}
