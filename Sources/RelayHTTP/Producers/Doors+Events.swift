import HTTPTypes
import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

extension Doors {
  /// Takes a producer's changes in: all valid ones of a request go to the relay together.
  func take(_ request: Request, _ gate: ScopeGate) async throws -> Response {
    let claim = try gate.producer(of: request, at: clock.wall())
    let format = try EventFormat(of: request)
    let bytes = try await bodies.collect(request, upTo: limits.bodyBytes)
    let producer = try claim.producer(sending: bytes)
    let events = try arrived(bytes, format, request.headers)
    let reader = EventReader(
      scope: gate.scope, producer: producer, ids: keys, limits: limits, now: clock.wall(),
      fetchCapacity: gate.fetchCapacity(of: producer))
    var result = IntakeResult()
    var facts: [Fact] = []
    var indices: [Int] = []
    facts.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      do throws(JSONProblem) {
        facts.append(.change(try event.change(by: reader)))
        indices.append(index)
      } catch {
        result.reject(index, event.id, WireError(error))
      }
    }
    relay.refused(changes: events.count - facts.count)
    let answers = try await submit(facts)
    for (index, answer) in zip(indices, answers) {
      switch answer {
      case .duplicate: result.duplicates += 1
      case .refused(let refusal): result.reject(index, events[index].id, WireError(refusal))
      case .accepted, .registered, .subscriptions, .done: result.accepted += 1
      }
    }
    return result.response
  }

  private func arrived(
    _ bytes: [UInt8], _ format: EventFormat, _ headers: HTTPFields
  ) throws -> [ArrivedEvent] {
    switch format {
    case .binary: return [.binary(try BinaryEvent(headers, body: bytes))]
    case .one:
      let root = try JSONTree(bytes).root
      guard root.isObject else {
        throw WireError(
          .badRequest,
          "the body must be one event; an array travels as application/cloudevents-batch+json")
      }
      return [.json(root)]
    case .batch:
      let root = try JSONTree(bytes).root
      guard root.isArray else {
        throw WireError(.badRequest, "the body must be an array of events")
      }
      let events = try root.elements()
      try checkCount(events.count)
      return events.map { .json($0) }
    case .lines:
      let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { !Self.isBlank($0) }
      try checkCount(lines.count)
      return lines.map { ArrivedEvent(line: $0) }
    }
  }

  private func checkCount(_ count: Int) throws(WireError) {
    guard count > 0 else { throw WireError(.badRequest, "the batch is empty") }
    guard count <= limits.eventsPerRequest else {
      throw WireError(
        .badRequest,
        "\(count) events; a request takes at most \(limits.eventsPerRequest), split the batch")
    }
  }

  private static func isBlank(_ line: ArraySlice<UInt8>) -> Bool {
    line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
  }

  func submit(_ facts: [Fact]) async throws(WireError) -> [Answer] {
    guard !facts.isEmpty else { return [] }
    do throws(Unavailable) {
      return try await relay.submit(facts)
    } catch {
      throw WireError(error)
    }
  }
}

/// One event of a request, as far as it could be read.
private enum ArrivedEvent {
  case json(JSONCursor)
  case binary(BinaryEvent)
  /// A line that is not JSON: it is rejected and does not hold up the others.
  case broken(JSONProblem)

  init(line: ArraySlice<UInt8>) {
    do throws(JSONProblem) {
      self = .json(try JSONTree(Array(line)).root)
    } catch {
      self = .broken(error)
    }
  }

  /// An id that is no string is no id: the index tells which event it was.
  var id: String? {
    switch self {
    case .json(let event): try? event.optional("id")?.string()
    case .binary(let event): event.id
    case .broken: nil
    }
  }

  func change(by reader: EventReader) throws(JSONProblem) -> Change {
    switch self {
    case .json(let event):
      do throws(JSONProblem) {
        return try reader.change(event)
      } catch {
        throw error.relative(to: event)
      }
    case .binary(let event): return try event.change(by: reader)
    case .broken(let problem): throw problem
    }
  }
}

/// What became of a request's events.
private struct IntakeResult {
  var accepted = 0
  var duplicates = 0
  private var rejected: [(index: Int, id: String?, why: WireError)] = []

  mutating func reject(_ index: Int, _ id: String?, _ why: WireError) {
    rejected.append((index, id, why))
  }

  /// 202; with nothing accepted and something rejected 400, and an error body's members as well.
  var response: Response {
    let failed = accepted == 0 && !rejected.isEmpty
    var json = JSONWriter()
    json.beginObject()
    json.integer("accepted", accepted)
    json.integer("duplicates", duplicates)
    json.key("rejected")
    json.beginArray()
    // Refused by the relay or at the door, they are told in the order sent.
    for item in rejected.sorted(by: { $0.index < $1.index }) {
      json.beginObject()
      json.integer("index", item.index)
      json.string("id", ifAny: item.id)
      json.string("code", item.why.code.rawValue)
      json.string("reason", item.why.reason)
      json.endObject()
    }
    json.endArray()
    let summary = WireError(.badRequest, "no event was accepted; see rejected")
    if failed { summary.write(into: &json) }
    json.endObject()
    return failed ? summary.response(json) : Response(json, status: .accepted)
  }
}

extension JSONProblem {
  /// The same, its path told from an event and not from the batch.
  fileprivate func relative(to event: JSONCursor) -> JSONProblem {
    let own = event.path
    guard !own.isEmpty, path.hasPrefix(own) else { return self }
    let rest = path.dropFirst(own.count)
    return JSONProblem(path: String(rest.first == "." ? rest.dropFirst() : rest), what: what)
  }
}
