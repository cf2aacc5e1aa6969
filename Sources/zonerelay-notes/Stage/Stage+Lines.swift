import Foundation

extension Stage {
  static let help = """
    Phones 1 and 2 are Alice's, 3 is Bob's. TEXT writes on 1, 2 TEXT on 2 · s: share with Bob
    o: phone 2 offline, online · k: kill the relay, start it · x: expire all tokens · Ctrl-C: end\n
    """

  /// Carries out a typed line. `2 Shopping: milk` writes a note on the second phone, `2 Shopping:`
  /// deletes it. Without a number, the line is for phone 1; without a name, it makes a new note.
  func obey(_ line: String) async throws {
    switch line {
    case "o": await phones[1].restart(isOnline: !phones[1].isOnline)
    case "s": try await store.share(Self.zone, with: "_bob")
    case "x": try await relay.expireTokens()
    case "k" where relay.isRunning: relay.kill()
    case "k":
      try await relay.start()
      for phone in phones { await phone.restart(isOnline: phone.isOnline) }
    default:
      let form = #/(?:([1-3]) )?(?:(\w+):(?!\S)|(?=.*\S)) *(.*)/#
      guard let (_, number, name, text) = line.wholeMatch(of: form)?.output else { return }
      try await phones[(number.flatMap { Int($0) } ?? 1) - 1].book.edit(
        name?.precomposedStringWithCanonicalMapping ?? "\(Date().timeIntervalSince1970)",
        in: Self.zone, to: text.isEmpty ? nil : String(text))
    }
  }

  func readTerminal() async throws {
    let lines = AsyncStream<String> { lines in
      FileHandle.standardInput.readabilityHandler = {
        let text = String(decoding: $0.availableData, as: UTF8.self)
        if text.isEmpty { lines.finish() }
        for line in text.split(separator: "\n") { lines.yield(String(line)) }
      }
    }
    for await line in lines {
      do { try await obey(line) } catch { Self.write("\(error)\n") }
    }
  }

  func showPhones() async throws {
    var shown: [Int: String] = [:]
    while true {
      for (number, phone) in phones.enumerated() {
        let notes = await phone.book.texts(in: Self.zone).sorted { $0.key < $1.key }.map(\.value)
        let texts = await (phone.isOnline ? notes : ["offline"] + notes).joined(separator: " · ")
        let row = "  phone \(number + 1): \(texts.replacing("\n", with: " / "))\n"
        if shown.updateValue(row, forKey: number) != row { Self.write(row) }
      }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
