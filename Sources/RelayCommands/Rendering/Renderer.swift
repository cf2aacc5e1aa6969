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
    switch format {
    case .text:
      let paint = Paint(isColourful: console.isColourful, columns: console.columns)
      for line in report.lines(paint) { console.answer(line: paint.visible(line)) }
    case .json: console.answer(line: try json(report, [.prettyPrinted]))
    case .jsonLine: console.answer(line: try json(report, []))
    }
  }

  private func json(
    _ report: some Readable, _ formatting: JSONEncoder.OutputFormatting
  ) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }
}
