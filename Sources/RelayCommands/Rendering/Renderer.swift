import Foundation

/// An answer of a command: text for people, JSON for machines.
protocol Readable: Encodable {
  func lines(_ paint: Paint) -> [String]
}

/// Prints a command's answer in the form that the user chose.
struct Renderer {
  enum Format { case text, json, jsonLine }

  var format: Format
  var console: Console

  func show(_ report: some Readable) throws {
    guard format == .text else { return try write(report) }
    let paint = console.paint
    for line in report.lines(paint) { console.answer(line: paint.visible(line)) }
  }

  /// Prints a value as JSON, in one line unless the format is `json`.
  func write(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if format == .json { encoder.outputFormatting.insert(.prettyPrinted) }
    console.answer(line: String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}
