import Foundation
import RelayWire
import Testing

/// "Why was my phone not woken?", asked of the real binary.
@Suite(.serialized) struct ExplainTests {
  @Test func `a delivered push is explained, from the change to the acknowledgement`() async throws
  {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let id = try await scene.change("R1")
    #expect(try await scene.hasPush())
    let push = try #require(try scene.standin.pushes(to: scene.phone.pushToken).first)
    #expect(try await Pause.until { try await scene.result(of: id)?.outcome == "woken" })
    try await scene.phone.catchUp(page: 100)
    var found: ExplainReport.ExplainedDevice?
    #expect(
      try await Pause.until {
        found = try await scene.explain(["--device", scene.phone.client])
          .report?.changes.last?.devices.first
        return found?.deliveries.first?.acknowledged != nil
      })
    let device = try #require(found)
    #expect(device.clientId == scene.phone.client && device.user == "_abc")
    #expect(device.result.w == 1 && device.result.apnsID == push["headers"]["apns-id"].string)
    #expect(device.deliveries.first?.subscriptionID == "sub-Zone")
    let pages = ["page of the database", "page of the zone"]
    #expect(pages.contains(device.deliveries.first?.acknowledged ?? ""))
    let events = device.story.map(\.event)
    for event in ["change", "matched", "wake", "ended", "acknowledged"] {
      #expect(events.contains(event), "\(events)")
    }
    // No push token, and no payload, is in any answer.
    let text = try await scene.run(["explain", "--zone", "_abc/Zone", "--record", "R1"])
    #expect(text.status == 0 && text.output.contains("woken by wake 1"), "\(text)")
    #expect(!text.output.contains(scene.phone.pushToken))
    await scene.end()
  }

  @Test func `a device that made the change is told so`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let id = try await scene.change("R1", by: scene.phone.client)
    _ = try await scene.waits(id, for: "own_change")
    await scene.end()
  }

  @Test func `a missing subscription and a filter that excludes are told apart`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    let none = try await scene.change("R1")
    _ = try await scene.waits(none, for: "no_subscription")
    let answer = try await scene.phone.modify([
      [
        "operationType": "create",
        "subscription": [
          "subscriptionID": "late", "subscriptionType": "query", "firesOn": ["delete"],
          "query": ["recordType": "Article"],
          "zoneID": ["zoneName": "Zone", "ownerRecordName": "_abc"],
          "notificationInfo": ["shouldSendContentAvailable": true],
        ],
      ]
    ])
    #expect(answer[0]["serverErrorCode"].isNull, "\(answer)")
    let excluded = try await scene.change("R2")
    #expect(try await scene.waits(excluded, for: "filter_not_met")?.detail == "late")
    // The first change was before the subscription.
    _ = try await scene.waits(none, for: "no_subscription")
    let text = try await scene.run([
      "explain", "--change", "/records/api-1", excluded, "--device", scene.phone.client,
    ])
    #expect(text.output.contains("what to do: "), "\(text.output)")
    await scene.end()
  }

  @Test func `a spent budget, and an unregistered device, are named with their times`() async throws
  {
    var scene = try await ExplainScene.start(
      extra: "budget: { background: { max: 1, per: 1h } }")
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    _ = try await scene.change("R1")
    #expect(try await scene.hasPush())
    let id = try await scene.change("R2")
    let budget = try await scene.waits(id, for: "budget")
    #expect(budget?.detail == "background" && budget?.until != nil)
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    #expect((now...(now + 3_600_000)).contains(budget?.until ?? 0))
    let body = ["clientId": scene.phone.client]
    let answer = try await scene.daemon.web.post(
      "/device/1/\(scene.phone.scope)/tokens/unregister", body, token: scene.phone.userToken)
    #expect(answer.status == 200)
    let later = try await scene.change("R3")
    _ = try await scene.waits(id, for: "unregistered")
    _ = try await scene.waits(later, for: "unregistered")
    await scene.end()
  }

  @Test func `a route that the provider refuses is named`() async throws {
    var scene = try await ExplainScene.start(options: ["--key-id", "ANOTHERKEY"])
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let id = try await scene.change("R1")
    let reason = try await scene.waits(id, for: "route_stopped")
    #expect(reason?.detail == "InvalidProviderToken", "\(String(describing: reason))")
    await scene.end()
  }

  @Test func `an unknown device exits 1 with a hint, and wrong questions exit 64`() async throws {
    let scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    for id in [UUID().uuidString.lowercased(), "phone"] {
      let ended = try await scene.run(["explain", "--device", id])
      #expect(ended.status == 1 && ended.errors.contains("no device has the id \(id)"))
      #expect(ended.errors.contains("zonerelay device list"))
    }
    let unknown = try await scene.run(["explain", "--change", "/records/api-1", "never"])
    #expect(unknown.status == 1 && unknown.output.contains("no change is remembered"))
    for wrong in [[], ["--record", "R1"], ["--zone", "Zone"], ["--change", "one"]] {
      #expect(try await scene.run(["explain"] + wrong).status == 64)
    }
    await scene.end()
  }

  /// A kill does not remove the entries that were written to the file, and the explanation reports
  /// the gap.
  @Test func `a killed daemon still knows what it did`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let id = try await scene.change("R1")
    #expect(try await scene.hasPush())
    // Before an explanation, the recorder writes the entries that wait in memory.
    #expect(try await Pause.until { try await scene.result(of: id)?.outcome == "woken" })
    await scene.daemon.kill()
    scene.daemon = try await RunningDaemon.start(in: scene.workplace)
    let (report, status) = try await scene.explain([
      "--change", "/records/api-1", id, "--device", scene.phone.client,
    ])
    #expect(status == 0 && report?.gaps == 1)
    #expect(report?.changes.last?.devices.first?.result.outcome == "woken")
    let file = scene.workplace.file("store/trace.ring").path
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    await scene.end()
  }

  /// A flight recorder of the smallest size holds the entries of some thousands of changes.
  @Test func `what the ring has written over is no longer known`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let first = try await scene.change("R1")
    #expect(try await scene.explain(["--change", "/records/api-1", first]).status == 0)
    var isGone = false
    for round in 0..<40 where !isGone {
      let events = (0..<1_000).map { number in
        scene.producer.event(
          "created", record: "\(round)-\(number)-" + String(repeating: "x", count: 60),
          zone: "Z\(number)", user: "_u\(number)")
      }
      #expect(try await scene.producer.post(events).status == 202)
      isGone = try await scene.explain(["--change", "/records/api-1", first]).status == 1
    }
    #expect(isGone)
    let (report, _) = try await scene.explain(["--change", "/records/api-1", first])
    #expect(report?.changes.isEmpty == true && report?.knownSince != nil)
    await scene.end()
  }

  @Test func `a tail shows a change live, filtered, and ends in good order`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    try await scene.phone.subscribe(toZone: "Zone")
    let arguments = ["tail", "--json", "--control", scene.workplace.controlSocket]
    let all = try Program(arguments, in: scene.workplace, name: "tail")
    let other = try Program(
      arguments + ["--zone", "_abc/Other"], in: scene.workplace, name: "other")
    let text = try Program(
      ["tail", "--device", scene.phone.client, "--control", scene.workplace.controlSocket],
      in: scene.workplace, name: "text")
    var record = 0
    // A tail shows only entries that are made after the tail has begun.
    #expect(
      try await Pause.until {
        record += 1
        _ = try await scene.change("R\(record)")
        let events = Set(
          all.output.split(separator: "\n").compactMap {
            JSON(data: Data($0.utf8))["event"].string
          })
        return events.isSuperset(of: ["change", "matched", "wake", "ended"])
          && text.output.contains("apns-id")
      }, "\(all.output)\(all.errors)\(text.errors)")
    #expect(!all.output.contains(scene.phone.pushToken))
    #expect(
      other.output.split(separator: "\n").allSatisfy { !$0.contains("\"zoneName\":\"Zone\"") })
    all.signal(SIGINT)
    #expect(await all.wait().status == 0)
    #expect(await scene.daemon.stop().status == 0)
    for program in [other, text] { #expect(await program.wait().status == 0) }
    scene.workplace.remove()
  }

  @Test func `a tail ends when its output is closed`() async throws {
    let scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    let shell = try Program(
      [
        "-c",
        "\(Program.binary.path) tail --control \(scene.workplace.controlSocket) | true; "
          + "echo \"${PIPESTATUS[0]}\"",
      ], in: scene.workplace, name: "shell", program: URL(fileURLWithPath: "/bin/bash"))
    let ended = await shell.wait(seconds: 30)
    #expect(ended.output == "0\n", "\(ended)")
    await scene.end()
  }

  @Test func `without a recorder nothing is explained, and no file is left`() async throws {
    var scene = try await ExplainScene.start()
    defer { scene.workplace.remove() }
    let file = scene.workplace.file("store/trace.ring").path
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(await scene.daemon.stop().status == 0)
    try scene.workplace.reconfigure(("size: 1MiB", "size: 0"))
    scene.daemon = try await RunningDaemon.start(in: scene.workplace)
    #expect(!FileManager.default.fileExists(atPath: file))
    for command in [["explain", "--device", scene.phone.client], ["tail"]] {
      let ended = try await scene.run(command)
      #expect(ended.status == 1 && ended.errors.contains("trace.size is 0"), "\(ended)")
    }
    await scene.end()
  }
}
