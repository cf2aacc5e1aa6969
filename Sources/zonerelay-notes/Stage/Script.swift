extension Stage {
  /// Runs fixed lines without a terminal; after each, online phones must equal the record server.
  func playScript() async throws {
    for line in [
      "s", "Shopping: milk", "3 Party: Saturday at 8",
      "o", "2 Shopping: milk and bread", "Shopping: milk and eggs", "o",
      "k", "Books: one", "3 Party: Saturday at 9", "k",
      "x", "Books:", "3 Party: Sunday at 9",  // all tokens expire: each phone reads all notes again
    ] {
      Self.write("> \(line)\n")
      try await obey(line)
      let end = ContinuousClock.now + .seconds(120)
      while try await !areEqual() {
        if .now > end { throw StageError(description: "after 2 min the phones are not equal") }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    for phone in phones where await phone.book.readsFromBeginning != 2 {
      throw StageError(description: "a phone has not read all notes again")
    }
  }

  private func areEqual() async throws -> Bool {
    let names = ["Books", "Party", "Shopping"]
    let notes = try await store.fetch(names, in: Self.zone, for: "_alice")
    let truth = notes.reduce(into: [:]) { $0[$1.name] = $1.text }
    for phone in phones where await phone.isOnline {
      guard await phone.book.content.pending.isEmpty else { return false }
      if relay.isRunning, await phone.book.texts(in: Self.zone) != truth { return false }
    }
    return true
  }
}
