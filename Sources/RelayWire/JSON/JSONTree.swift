/// A JSON text that has been read: its bytes, and its values as one flat list.
///
/// Reading checks everything that the grammar of RFC 8259 and UTF-8 demand. Strings and numbers are
/// made only when a caller reads them. If an object has equal keys, the first one counts.
package final class JSONTree: Sendable {
  let bytes: [UInt8]
  let nodes: [JSONNode]

  /// - Throws: `JSONProblem` if `bytes` are not exactly one JSON text, or exceed `limits`.
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

  /// The index of the node that follows the one at `index` and everything inside that node.
  func next(after index: Int) -> Int {
    let node = nodes[index]
    return node.isContainer ? Int(node.extent) : index + 1
  }
}
