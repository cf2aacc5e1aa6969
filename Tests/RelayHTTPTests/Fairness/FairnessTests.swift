import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// A caller that takes too much is refused, and other callers are not.
@Suite(.timeLimit(.minutes(1))) struct FairnessTests {
  private func expectThrottled(_ answer: Rig.Answer, _ reason: String) throws {
    #expect(answer.status == 429, "\(answer.text)")
    #expect(try answer.string("serverErrorCode") == "THROTTLED")
    #expect(try answer.string("reason")?.contains(reason) == true, "\(answer.text)")
    #expect((answer.headers[.retryAfter].flatMap { Int($0) } ?? 0) > 0)
    #expect(try answer.json.required("retryAfter").integer() > 0)
  }

  /// Limit: limits.writesPerMinute
  @Test func `a user with too many writes is throttled, and other users are not`() async throws {
    var limits = Rig.atOnce
    limits.writesPerMinute = 5
    let rig = await Rig(limits: limits)
    for _ in 0..<5 {
      #expect(try await rig.device("badge/modify", #"{"badge":1}"#).status == 200)
    }
    let refused = try await rig.device("badge/modify", #"{"badge":1}"#)
    try expectThrottled(refused, "5 items a minute")
    #expect(refused.headers[.retryAfter] == "12", "a fifth of a minute")
    try expectThrottled(
      try await rig.device("tokens/create", #"{"apnsEnvironment":"development"}"#), "a minute")
    #expect(try await rig.device("badge/modify", #"{"badge":1}"#, as: "_other").status == 200)
    #expect(try await rig.device("tokens/list").status == 200, "reads are no writes")
    #expect(rig.relay.seen.facts.count == 6)
  }

  /// Each item of a batch counts. Because the relay has read the batch's body already, it accepts
  /// the whole batch if the caller may still write one item. The excess counts against later
  /// requests.
  @Test(arguments: [6, 7])
  func `each item of a batch counts as one write`(limit: Int) async throws {
    var limits = Rig.atOnce
    limits.writesPerMinute = limit
    let rig = await Rig(limits: limits)
    let marks = (1...3).map { #""6f1c0000-0000-4000-8000-00000000000\#($0)""# }
    let body = #"{"notificationIDs":[\#(marks.joined(separator: ","))]}"#
    #expect(try await rig.device("notifications/markRead", body).status == 200)
    let operations = (1...3).map {
      #"{"operationType":"delete","subscription":{"subscriptionID":"s\#($0)"}}"#
    }
    let answer = try await rig.database(
      "subscriptions/modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    #expect(answer.status == 200)
    let next = try await rig.device("badge/modify", #"{"badge":1}"#)
    if limit == 7 {
      #expect(next.status == 200)
    } else {
      try expectThrottled(next, "a minute")
    }
  }

  /// A client on loopback may be a proxy for many callers. So the relay allows a hundred times as
  /// many failed authentications from loopback as from a public address.
  @Test func `too many failed authentications are throttled, and good ones are not`() async throws {
    var limits = Rig.atOnce
    limits.failedAuthenticationsPerMinute = 1
    let rig = await Rig(limits: limits)
    let token = try await Rig.token(for: "_abc")
    let answers = try await rig.served { port, _ in
      let socket = try #require(Socket(port: port))
      func ask(_ token: String) -> String {
        socket.send(
          "POST /device/1/\(Rig.container)/development/tokens/list HTTP/1.1\r\nHost: x\r\n"
            + "Authorization: Bearer \(token)\r\nContent-Length: 2\r\n\r\n{}")
        return socket.receive(until: "}")
      }
      let refused = (0..<101).map { _ in ask("nobody") }
      return refused + [ask(token)]
    }
    #expect(answers[..<100].allSatisfy { $0.hasPrefix("HTTP/1.1 401 ") })
    #expect(answers[100].hasPrefix("HTTP/1.1 429 ") && answers[100].contains("Retry-After: 1\r\n"))
    #expect(answers[101].hasPrefix("HTTP/1.1 200 "), "good credentials are never refused for it")
  }

  /// Many changes of one producer leave room in the inbox for the other producers.
  @Test func `one producer may fill only half of the inbox`() async throws {
    var limits = Rig.atOnce
    limits.eventsPerRequest = 2
    limits.inboxChanges = 4
    let producers = ["records-1", "records-2"].map {
      ScopeAccess.Producer(name: $0, proof: .bearer("\(Rig.producerKey)-\($0)"))
    }
    let rig = await Rig(
      limits: limits, access: ScopeAccess(users: nil, producers: producers))
    let (submitted, submits) = AsyncStream.makeStream(of: Void.self)
    let (going, go) = AsyncStream.makeStream(of: Void.self)
    rig.relay.behave {
      $0.onSubmit = {
        submits.yield()
        for await _ in going {}
      }
    }
    func produce(_ name: String, _ ids: [String]) async throws -> Rig.Answer {
      let events = ids.map { Event(id: $0).text }
      return try await rig.produce(
        "[\(events.joined(separator: ","))]", bearer: "\(Rig.producerKey)-\(name)")
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await produce("records-1", ["1", "2"]).status }
      var arrivals = submitted.makeAsyncIterator()
      await arrivals.next()
      try expectThrottled(try await produce("records-1", ["3"]), "share of the relay's inbox")
      group.addTask { try await produce("records-2", ["4", "5"]).status }
      await arrivals.next()
      go.finish()
      for try await status in group { #expect(status == 202) }
    }
    #expect(try await produce("records-1", ["3"]).status == 202, "the share is free again")
  }
}
