import HTTPTypes
import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

extension Doors {
  /// Takes a producer's changes in: all valid ones of a request go to the relay together.
  func take(_ request: Request, _ gate: ScopeGate) async throws -> Response {
    let producer = try gate.producer(of: request)
    let isBatch = try Self.isBatch(request)
    let bytes = try await bodies.collect(request, upTo: limits.bodyBytes)
    let events = try events(in: bytes, isBatch: isBatch)
    let reader = EventReader(
      scope: gate.scope, producer: producer, ids: keys, limits: limits, now: clock.wall())
    var result = IntakeResult()
    var facts: [Fact] = []
    var indices: [Int] = []
    facts.reserveCapacity(events.count)
    for (index, event) in events.enumerated() {
      do throws(JSONProblem) {
        facts.append(.change(try reader.change(event)))
        indices.append(index)
      } catch {
        result.reject(index, event, WireError(error.relative(to: event)))
      }
    }
    relay.refused(changes: events.count - facts.count)
    let answers = try await submit(facts)
    for (index, answer) in zip(indices, answers) {
      switch answer {
      case .duplicate: result.duplicates += 1
      case .refused(let refusal): result.reject(index, events[index], WireError(refusal))
      case .accepted, .registered, .subscriptions, .done: result.accepted += 1
      }
    }
    return result.response
  }

  /// - Returns: false for one event, true for an array of them.
  private static func isBatch(_ request: Request) throws(WireError) -> Bool {
    switch MediaType(request.headers[.contentType] ?? "").name {
    case "application/cloudevents+json": return false
    case "application/cloudevents-batch+json": return true
    default:
      throw WireError(
        .badRequest,
        "Content-Type must be application/cloudevents+json or "
          + "application/cloudevents-batch+json",
        status: .unsupportedMediaType)
    }
  }

  private func events(in bytes: [UInt8], isBatch: Bool) throws -> [JSONCursor] {
    let root = try JSONTree(bytes).root
    guard isBatch else {
      guard root.isObject else {
        throw WireError(
          .badRequest,
          "the body must be one event; an array travels as application/cloudevents-batch+json")
      }
      return [root]
    }
    guard root.isArray else { throw WireError(.badRequest, "the body must be an array of events") }
    let events = try root.elements()
    guard !events.isEmpty else { throw WireError(.badRequest, "the batch is empty") }
    guard events.count <= limits.eventsPerRequest else {
      throw WireError(
        .badRequest,
        "\(events.count) events; a request takes at most \(limits.eventsPerRequest), "
          + "split the batch"
      )
    }
    return events
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

/// What became of a request's events.
private struct IntakeResult {
  var accepted = 0
  var duplicates = 0
  private var rejected: [(index: Int, id: String?, why: WireError)] = []

  mutating func reject(_ index: Int, _ event: JSONCursor, _ why: WireError) {
    let id = event.optional("id")
    // An id that is no string is no id: the index tells which event it was.
    rejected.append((index, try? id?.string(), why))
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
