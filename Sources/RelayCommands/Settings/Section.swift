import RelayCore
import Yams

/// One mapping of the file, read key by key. A key that the program never reads is a problem, so no
/// list of known keys can become outdated.
final class Section {
  let place: String
  /// The line of the key whose value the mapping is, or of the mapping's first key.
  private let line: Int?
  let diagnostics: Diagnostics
  private let entries: [(key: String, node: Node, line: Int?)]
  private var asked: [String] = []
  /// True if flags and the environment may override the keys, as they may outside `containers`.
  private let canBeOverridden: Bool

  init(
    _ node: Node?, place: String, line: Int? = nil, diagnostics: Diagnostics, canBeOverridden: Bool
  ) {
    self.place = place
    self.diagnostics = diagnostics
    self.canBeOverridden = canBeOverridden
    self.line = line ?? node?.mark?.line
    let name = place.isEmpty ? "the file" : place
    var entries: [(String, Node, Int?)] = []
    switch node {
    case .mapping(let mapping):
      for (key, value) in mapping {
        if let name = key.scalar?.string {
          entries.append((name, value, key.mark?.line))
        } else {
          diagnostics.report(
            name, ValueError("a key is not a word", remedy: "write keys as plain words"),
            line: key.mark?.line)
        }
      }
    case nil: break
    case let node? where node.isNothing: break
    case let node?:
      diagnostics.report(
        name,
        ValueError(
          "is \(node.shape), not keys with values", remedy: "write key: value lines below it"),
        line: self.line)
    }
    self.entries = entries
    diagnostics.sections.append(self)
  }

  func key(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  /// The node of a key; nil if it is absent or empty. The key counts as known from now on.
  func node(_ name: String) -> Node? {
    asked.append(name)
    guard let node = entries.first(where: { $0.key == name })?.node, !node.isNothing else {
      return nil
    }
    return node
  }

  func report(_ name: String, _ wrong: ValueError) {
    // The wrong value comes from an override, so the report names the override and no line of the
    // file.
    if canBeOverridden, let other = diagnostics.overrides.value(of: key(name)) {
      return diagnostics.report(
        key(name), ValueError("\(other.name): \(wrong.cause)", remedy: wrong.remedy))
    }
    let line = line(of: name) ?? (place.isEmpty ? nil : line)
    diagnostics.report(key(name), wrong, line: line)
  }

  func report(_ name: String, _ cause: String, remedy: String) {
    report(name, ValueError(cause, remedy: remedy))
  }

  /// Reports a value that is less than the value of another key.
  ///
  /// - Parameters:
  ///   - key: the path of the other key.
  ///   - cause: what the value is, such as `is shorter than the window`.
  func check<Value: Comparable>(
    _ name: String, _ value: Value, isAtLeast least: Value, of key: String, else cause: String,
    _ show: (Value) -> String
  ) {
    guard value < least else { return }
    report(name, "\(show(value)) \(cause)", remedy: "make it at least \(key), \(show(least))")
  }

  /// Shows a detail of a key's value beside the value.
  func note(_ name: String, _ text: String) {
    diagnostics.note(key(name), text, .file(line: line(of: name)))
  }

  func reportUnknownKeys() {
    for (name, _, line) in entries where !asked.contains(name) {
      let remedy =
        if let near = name.nearest(of: asked) {
          "did you mean '\(near)'?"
        } else {
          "remove it; keys here are \(asked.joined(separator: ", "))"
        }
      diagnostics.report(
        key(name), ValueError("is no known key", remedy: remedy), line: line)
    }
  }

  // MARK: Parts

  func section(_ name: String) -> Section { section(name, node(name)) }

  private func section(_ name: String, _ node: Node?) -> Section {
    Section(
      node, place: key(name), line: line(of: name),
      diagnostics: diagnostics, canBeOverridden: canBeOverridden)
  }

  /// The section, as `section` makes it; nil if neither the file nor an override sets a key of it.
  func optionalSection(_ name: String) -> Section? {
    let node = node(name)
    guard node != nil || canBeOverridden && diagnostics.overrides.concern(key(name)) else {
      return nil
    }
    return section(name, node)
  }

  /// A list of mappings; their keys cannot be overridden.
  func sections(_ name: String) -> [Section] {
    (items(name) ?? []).map {
      Section($1, place: $0, diagnostics: diagnostics, canBeOverridden: false)
    }
  }

  /// The items of a list, each with its path; nil if the key is absent.
  private func items(_ name: String) -> [(path: String, node: Node)]? {
    guard let node = node(name) else { return nil }
    guard case .sequence(let sequence) = node else {
      report(name, "is \(node.shape), not a list", remedy: "write [a, b] or - lines")
      return []
    }
    return sequence.enumerated().map { ("\(key(name))[\($0.offset)]", $0.element) }
  }

  /// Reads one of two alternatives. One must be given, and not both.
  ///
  /// - Parameters:
  ///   - others: the keys of the second alternative.
  ///   - missing: the remedy if none is given.
  ///   - both: the remedy if both are given.
  func either<Value>(
    _ first: String, _ readFirst: () -> Value?, or others: [String], _ readOther: () -> Value?,
    missing: String, both: String
  ) -> Value? {
    switch (isGiven(first), others.first(where: isGiven)) {
    case (true, nil): return readFirst()
    case (false, _?): return readOther()
    case (true, let other?):
      _ = (readFirst(), readOther())
      report(other, "stands beside \(first)", remedy: both)
    case (false, nil):
      // Make all keys known, so that a key without a value is not reported as unknown.
      for key in [first] + others { _ = node(key) }
      report(first, "is missing", remedy: missing)
    }
    return nil
  }

  // MARK: Scalars

  /// A key with a default.
  func value<Value>(_ name: String, _ kind: ValueParser<Value>, default standard: Value) -> Value {
    if let value = value(name, kind) { return value }
    if !isGiven(name) { diagnostics.note(key(name), kind.show(standard), .standard) }
    return standard
  }

  /// A key whose default is the value that `setting` has already.
  func read<Value>(_ name: String, _ kind: ValueParser<Value>, into setting: inout Value) {
    setting = value(name, kind, default: setting)
  }

  /// A key that may be absent. Nil if it is absent or wrong; a wrong value is reported.
  func value<Value>(_ name: String, _ kind: ValueParser<Value>) -> Value? {
    let node = node(name)
    if canBeOverridden, let other = diagnostics.override(key(name)) {
      do throws(ValueError) {
        let value = try kind.read(other.text)
        diagnostics.note(key(name), kind.show(value), .override(other.name))
        return value
      } catch {
        report(name, error)
        return nil
      }
    }
    return node.flatMap { read($0, kind, path: key(name), line: line(of: name)) }
  }

  /// A key that must be present.
  func required<Value>(_ name: String, _ kind: ValueParser<Value>) -> Value? {
    if let value = value(name, kind) { return value }
    if !isGiven(name) { report(name, "is missing", remedy: "add \(key(name))") }
    return nil
  }

  /// A list of scalars; wrong items are reported and left out.
  func list<Value>(_ name: String, _ kind: ValueParser<Value>) -> [Value]? {
    items(name)?.compactMap { read($0.node, kind, path: $0.path, line: $0.node.mark?.line) }
  }

  /// True if the file or an override sets the key, to a right or wrong value.
  func isGiven(_ name: String) -> Bool {
    entries.contains { $0.key == name && !$0.node.isNothing }
      || canBeOverridden && diagnostics.overrides.value(of: key(name)) != nil
  }

  /// The line of a key; nil if the file does not have it.
  private func line(of name: String) -> Int? { entries.first { $0.key == name }?.line }

  private func read<Value>(
    _ node: Node, _ kind: ValueParser<Value>, path: String, line: Int?
  ) -> Value? {
    guard case .scalar(let scalar) = node else {
      let wrong = ValueError(
        "is \(node.shape), not one value", remedy: "write one value after the key")
      diagnostics.report(path, wrong, line: line)
      return nil
    }
    do throws(ValueError) {
      let value = try kind.read(scalar.string)
      diagnostics.note(path, kind.show(value), .file(line: line))
      return value
    } catch {
      diagnostics.report(path, error, line: line)
      return nil
    }
  }
}

extension Node {
  /// True for `key:` with nothing after it, for `~` and for `null`.
  var isNothing: Bool {
    guard case .scalar(let scalar) = self, scalar.style == .plain else { return false }
    return ["", "~", "null"].contains(scalar.string)
  }

  fileprivate var shape: String {
    switch self {
    case .scalar(let scalar): "'\(scalar.string)'"
    case .mapping: "a group of keys"
    case .sequence: "a list"
    case .alias: "an alias"
    }
  }
}
