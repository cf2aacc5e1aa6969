import Foundation

/// The phones side by side. The user types below them, a line at a time.
struct Terminal: Sendable {
  let stage: Stage
  private static let (width, rows) = (26, 12)
  private static let prompt = "\u{1B}[\(rows + 4);1H\u{1B}[J> "

  func run() async throws {
    Stage.write("\u{1B}[2J\(Self.prompt)")
    try await Stage.first(
      {
        while true {
          Stage.write("\u{1B}7\u{1B}[H\(await frame())\u{1B}8")
          try await Task.sleep(for: .milliseconds(100))
        }
      },
      {
        for await line in Self.lines() {
          do { try await obey(line) } catch { Stage.write("\(error)\n") }
          Stage.write(Self.prompt)
        }
      })
  }

  private func obey(_ line: String) async throws {
    switch line {
    case "o": await stage.phones[1].switchOnline()
    case "s": try await stage.phones[0].server.ask("share", Stage.sharing)
    case "x": try stage.relay.expireTokens()
    case "k":
      stage.relay.end(SIGKILL)
      try await stage.relay.start()
    default:
      let parts = line.wholeMatch(of: #/([1-3]) (.+)/#)?.output ?? (line[...], "1", line[...])
      try await stage.phones[(Int(parts.1) ?? 1) - 1].book.edit(
        "\(Date().timeIntervalSince1970)", in: Stage.zone, to: String(parts.2))
    }
  }

  private func frame() async -> String {
    var lines = [String](repeating: "", count: Self.rows)
    for (number, phone) in stage.phones.enumerated() {
      let state = await phone.isOnline ? "" : " offline"
      let notes = await phone.book.texts(in: Stage.zone).sorted { $0.key < $1.key }.map(\.value)
        .joined(separator: "\n").split(separator: "\n").suffix(Self.rows - 2)
      for (row, text) in (["\(number + 1) \(phone.name)\(state)", ""] + notes).enumerated() {
        lines[row] = lines[row].padding(toLength: Self.width * number, withPad: " ", startingAt: 0)
        lines[row] += text.prefix(Self.width - 2)
      }
    }
    lines.append("TEXT writes on 1, 2 TEXT on 2 · o: tablet offline, online · s: share with Bob")
    lines.append("k: kill the relay · x: expire all tokens · Ctrl-C: end")
    return lines.map { "\($0)\u{1B}[K\n" }.joined()
  }

  private static func lines() -> AsyncStream<String> {
    AsyncStream { lines in
      FileHandle.standardInput.readabilityHandler = {
        let text = String(decoding: $0.availableData, as: UTF8.self)
        if text.isEmpty { lines.finish() }
        for line in text.split(separator: "\n") { lines.yield(String(line)) }
      }
    }
  }
}
