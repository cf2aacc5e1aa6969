import RelayCore
import RelayWire

/// One event of a request, as far as it could be read.
enum ArrivedEvent {
  case json(JSONCursor)
  case binary(BinaryEvent)
  /// A line that is not JSON. This line is rejected; the other lines are read.
  case broken(JSONProblem)

  /// The bytes of the event's JSON text, or in binary mode the bytes of the event's data.
  var bytes: Int {
    switch self {
    case .json(let event): event.objectBytes
    case .binary(let event): event.bytes
    case .broken: 0
    }
  }

  init(line: ArraySlice<UInt8>) {
    do throws(JSONProblem) {
      self = .json(try JSONTree(Array(line)).root)
    } catch {
      self = .broken(error)
    }
  }

  /// The event's id; nil if the id is missing or is no string. The answer then identifies the event
  /// by its index only.
  var id: String? {
    switch self {
    // An id that is no string counts as nil here; the reader refuses the event, and says why.
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

extension JSONProblem {
  /// The same problem, with its path relative to the event and not to the batch.
  fileprivate func relative(to event: JSONCursor) -> JSONProblem {
    let own = event.path
    guard !own.isEmpty, ByteOrdered.begins(path, with: own) else { return self }
    let rest = Substring(path.utf8.dropFirst(own.utf8.count))
    return JSONProblem(
      path: String(rest.utf8.first == UInt8(ascii: ".") ? Substring(rest.utf8.dropFirst()) : rest),
      what: what)
  }
}
