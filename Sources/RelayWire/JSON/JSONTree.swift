/// A JSON text that has been read: the bytes, and its values as one flat list.
///
/// Reading checks everything the grammar of RFC 8259 and UTF-8 demand; strings and numbers are only
/// made when they are asked for. Of equal keys in an object the first counts.
package final class JSONTree: Sendable {
  let bytes: [UInt8]
  let nodes: [JSONNode]

  /// - Throws: `JSONProblem` if this is not one JSON text, or beyond `limits`.
  package init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONProblem) {
    var nodes: [JSONNode] = []
    nodes.reserveCapacity(min(bytes.count / 6 + 8, limits.nodes))
    let failure = bytes.withUnsafeBufferPointer { text -> JSONProblem? in
      var scanner = JSONScanner(text: text, limits: limits)
      do throws(JSONProblem) {
        try scanner.scan(into: &nodes)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    self.bytes = bytes
    self.nodes = nodes
  }

  package var root: JSONCursor { JSONCursor(tree: self, index: 0) }

  /// The node after the one at `index`, with all that is inside it.
  func next(after index: Int) -> Int {
    let node = nodes[index]
    return node.isContainer ? Int(node.extent) : index + 1
  }
}
