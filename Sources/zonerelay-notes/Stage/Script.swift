import Foundation

/// Plays everything without a terminal, and checks at the end that all phones equal the server.
struct Script {
  let stage: Stage

  func run() async throws {
    let (phone, tablet, bob) = (stage.phones[0], stage.phones[1], stage.phones[2])
    say("\nA relay, a record server, and the phones of Alice (two) and Bob are running")
    try await write(phone, "Shopping", "milk")
    try await until([tablet], show: "Shopping", "milk")
    say("\nAlice shares her zone with Bob")
    try await phone.server.ask("share", Stage.sharing)
    try await until([bob], show: "Shopping", "milk")
    try await write(bob, "Party", "Saturday at 8")
    try await until([phone, tablet], show: "Party", "Saturday at 8")
    say("\nAlice's tablet goes offline; it and her phone edit the same note")
    await tablet.switchOnline()
    try await write(tablet, "Shopping", "milk and bread")
    try await write(phone, "Shopping", "milk and eggs")
    try await until([bob], show: "Shopping", "milk and eggs")
    say("  The tablet's file keeps \(await tablet.book.pendingEdits.count) edit. It comes back.")
    await tablet.switchOnline()
    try await until(stage.phones, show: "Shopping", "milk and eggs\nmilk and bread")
    say("\nThe relay is killed (kill -9), the users go on writing, and it starts again")
    stage.relay.end(SIGKILL)
    try await write(phone, "Books", "one")
    try await write(bob, "Party", "Saturday at 9")
    try await until("The record server has both edits") {
      await (phone.book.pendingEdits + bob.book.pendingEdits).isEmpty
    }
    try await stage.relay.start()
    try await until([bob], show: "Books", "one")
    try await until([tablet], show: "Party", "Saturday at 9")
    say("\nAll change tokens expire, as after a restore from a backup")
    try stage.relay.expireTokens()
    try await write(phone, "Books", nil)
    try await until([tablet, bob], show: "Books", nil)
    say("\nEvery phone is compared with the record server")
    let notes = try await stage.store.fetch(
      ["Books", "Party", "Shopping"], in: Stage.zone, for: phone.server.user)
    let truth = Dictionary(uniqueKeysWithValues: notes.map { ($0.name, $0.text) })
    try await until("All phones equal the server, which has \(truth.count) notes") {
      for each in stage.phones where await each.book.texts(in: Stage.zone) != truth { return false }
      return true
    }
  }

  private func write(_ phone: Phone, _ name: String, _ text: String?) async throws {
    say("  \(phone.name) " + (text.map { "writes \(name): \($0)" } ?? "deletes \(name)"))
    try await phone.book.edit(name, in: Stage.zone, to: text)
  }

  private func until(_ phones: [Phone], show name: String, _ text: String?) async throws {
    for phone in phones {
      let what = text.map { "\(name): \($0.replacing("\n", with: " / "))" } ?? "no \(name)"
      try await until("\(phone.name) shows \(what)") {
        await phone.book.texts(in: Stage.zone)[name] == text
      }
    }
  }

  /// Waits for at most two minutes: a request that gets no answer is sent again after 30 s.
  private func until(_ what: String, _ holds: () async throws -> Bool) async throws {
    let start = ContinuousClock.now
    while try await !holds() {
      guard ContinuousClock.now - start < .seconds(120) else {
        throw StageError(description: "not so after 2 min: \(what)")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    say("  \(what) (\(Int((ContinuousClock.now - start) / .milliseconds(1))) ms)")
  }

  private func say(_ line: String) { Stage.write("\(line)\n") }
}
