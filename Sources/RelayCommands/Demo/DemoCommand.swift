import ArgumentParser
import Foundation

struct DemoCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Shows one change travel, on loopback, and ends.",
    discussion: """
      Starts an APNs look-alike and a relay of its own in a temporary directory, registers two \
      phones, lets a record server report changes, and prints what happens at every step. Touches \
      nothing else, needs no configuration and no network, and removes what it made.

      Example:
        zonerelay demo
      """)

  @Flag(help: "Leave the temporary directory behind, to look into.")
  var keep = false

  func perform(_ console: Console) async throws -> ExitStatus {
    let place = try await DemoPlace()
    defer { if !keep { place.remove() } }
    let standin = try DemoProcess(
      ["apns-standin", "--listen", "127.0.0.1:\(place.standinPort)", "--directory", place.apns],
      log: place.path("standin.log"))
    defer { standin.stop() }
    try standin.waitForReady()
    try place.writeConfiguration()
    let relay = try DemoProcess(
      ["serve", "--config", place.path("zonerelay.yaml")], log: place.path("relay.log"))
    defer { relay.stop() }
    let web = DemoWeb(place: place)
    try await web.untilReady(relay)
    try await DemoStory(place: place, web: web, console: console).tell()
    if keep { console.talk(line: "zonerelay: everything is in \(place.directory)") }
    return .done
  }
}
