/// A JSON text that has been read: its bytes, and its values as one flat list in the order of the
/// text.
///
/// The initializer checks the whole text against the grammar of RFC 8259 and UTF-8. Strings and
/// numbers are made only when a caller reads them. If an object has equal keys, a lookup by key
/// finds the first.
package final class JSONTree: Sendable {
  let bytes: [UInt8]
  let nodes: [JSONNode]

  /// - Throws: `JSONProblem` if `bytes` are not exactly one JSON text, or exceed the
  ///   limits of `JSONScanner`.
  package init(_ bytes: [UInt8]) throws(JSONProblem) {
    var nodes: [JSONNode] = []
    nodes.reserveCapacity(min(bytes.count / 6 + 8, JSONScanner.nodesMax))
    let failure = bytes.withUnsafeBufferPointer { text -> JSONProblem? in
      var scanner = JSONScanner(text: text)
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

  /// The index of the first node after the node at `index` and after all nodes inside it.
  func next(after index: Int) -> Int {
    let node = nodes[index]
    return node.isContainer ? Int(node.extent) : index + 1
  }

  func isKey(at index: Int, _ key: StaticString) -> Bool {
    let node = nodes[index]
    guard node.kind == .string else { return text(at: index).utf8.elementsEqual("\(key)".utf8) }
    let length = key.utf8CodeUnitCount
    guard Int(node.extent) == length else { return false }
    return bytes.withUnsafeBufferPointer { text in
      let start = Int(node.start)
      var offset = 0
      while offset < length, text[start + offset] == key.utf8Start[offset] { offset += 1 }
      return offset == length
    }
  }

  func text(at index: Int) -> String {
    let node = nodes[index]
    let range = Int(node.start)..<Int(node.start) + Int(node.extent)
    // The scanner has checked the UTF-8, so decoding never replaces invalid bytes.
    guard node.kind == .escapedString else {
      return bytes.withUnsafeBufferPointer {
        String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self)
      }
    }
    return String(decoding: Self.unescaped(bytes[range]), as: UTF8.self)
  }

  func double(at index: Int) -> Double {
    let node = nodes[index]
    let slice = bytes[Int(node.start)..<Int(node.start) + Int(node.extent)]
    return Double(String(decoding: slice, as: UTF8.self)) ?? .nan
  }

  private static func unescaped(_ slice: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(slice.count)
    var at = slice.startIndex
    while at < slice.endIndex {
      guard slice[at] == UInt8(ascii: "\\") else {
        result.append(slice[at])
        at += 1
        continue
      }
      let letter = slice[at + 1]
      at += 2
      switch letter {
      case UInt8(ascii: "b"): result.append(0x08)
      case UInt8(ascii: "f"): result.append(0x0c)
      case UInt8(ascii: "n"): result.append(0x0a)
      case UInt8(ascii: "r"): result.append(0x0d)
      case UInt8(ascii: "t"): result.append(0x09)
      case UInt8(ascii: "u"): appendCharacter(slice, &at, to: &result)
      default: result.append(letter)
      }
    }
    return result
  }

  /// Appends the character of a `\u` escape, whose digits begin at `at`. Two escapes that form a
  /// pair of surrogates are one character.
  private static func appendCharacter(
    _ slice: ArraySlice<UInt8>, _ at: inout Int, to result: inout [UInt8]
  ) {
    func unit(_ start: Int) -> UInt32 {
      slice[start..<start + 4].reduce(0) { $0 << 4 | UInt32(HexDigit.value(of: $1) ?? 0) }
    }
    var code = unit(at)
    at += 4
    if 0xd800...0xdbff ~= code {
      code = 0x10000 + ((code - 0xd800) << 10) + (unit(at + 2) - 0xdc00)
      at += 6
    }
    guard let scalar = Unicode.Scalar(code) else { return }
    result.append(contentsOf: UTF8.encode(scalar)!)
  }
}
