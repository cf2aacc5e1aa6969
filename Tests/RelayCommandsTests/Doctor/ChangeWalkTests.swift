import Foundation
import RelayCore
import Testing

@testable import RelayCommands

/// The walk of one change: which request comes after which answer, and which hop is broken.
@Suite struct ChangeWalkTests {
  private let names = WalkNames(client: "6f1c1e9e-4f0c-4d5e-9a53-0f6f4d3f8a11")

  private var walk: ChangeWalk { ChangeWalk(names: names, patience: .seconds(20)) }

  private func answer(_ json: String, status: Int = 200) throws -> WalkAnswer {
    .answered(status: status, try LooseJSON(body: Array(json.utf8)))
  }

  private var wake: String {
    #"{"aps":{},"zr":{"w":17,"n":1,"z":[["\#(names.zone)","_zonerelay-doctor",1]]}}"#
  }

  @Test func `only the relay that knows the doctor's device is this relay`() throws {
    func found(_ answer: WalkAnswer) -> [String] {
      let finding = PublicURLEvidence(url: "https://a", devices: answer, names).finding
      return [finding.code?.text ?? finding.message]
    }
    let own = #"{"devices":[{"clientId":"old"},{"clientId":"\#(names.client)"}]}"#
    #expect(found(try answer(own)) == ["it leads to this relay"])
    #expect(found(try answer(#"{"devices":[]}"#)) == ["public_url_elsewhere"])
    #expect(found(try answer("{}", status: 401)) == ["public_url_elsewhere"])
    #expect(found(.unanswered("no answer")) == ["public_url_elsewhere"])
  }

  /// The requests of a walk through a healthy relay, each with a good answer.
  private func goodWalk() throws -> [(request: WalkRequest, answer: WalkAnswer)] {
    [
      (.register, try answer(#"{"webcourierURL":"https://relay.example.com/courier/1/abc"}"#)),
      (.subscribe, try answer(#"{"subscriptions":[{"subscriptionID":"s"}]}"#)),
      (.post, try answer(#"{"accepted":1,"duplicates":0,"rejected":[]}"#, status: 202)),
      (.poll, try answer(wake)),
      (.fetch, try answer(#"{"zones":[{"records":[{"recordName":"change"}]}]}"#)),
      (.acknowledge(wake: 17), try answer("{}")),
      (.confirm, try answer(#"{"devices":[{"pending":0}]}"#)),
    ]
  }

  /// The subscription is removed first: else the zone's end would wake other doctors' devices.
  @Test func `a change that arrives passes every hop once`() throws {
    var walk = walk
    var passed: [String] = []
    for (request, answer) in try goodWalk() {
      let next = walk.next()
      #expect(next == .ask(request) || next == .askLater(request), "\(next)")
      if let finding = walk.answered(answer, took: .milliseconds(10)) {
        #expect(finding.result == .passed && finding.group == .change)
        passed.append(finding.subject)
      }
    }
    #expect(passed == ChangeWalk.Hop.allCases.map(\.subject))
    #expect(walk.next() == .done && walk.courierURL.hasSuffix("/courier/1/abc"))
    #expect(walk.cleanUp == [.unsubscribe, .endZone, .unregister])
  }

  @Test(arguments: [
    (0, 401, #"{"serverErrorCode":"AUTHENTICATION_FAILED","reason":"no"}"#, "change_device", 0),
    (0, 200, "{}", "change_device", 0),
    (1, 200, #"{"subscriptions":[{"serverErrorCode":"THROTTLED"}]}"#, "change_subscription", 1),
    (2, 401, #"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#, "change_post", 2),
    (2, 202, #"{"accepted":0,"duplicates":1}"#, "change_post", 2),
    (3, 410, #"{"serverErrorCode":"NOT_FOUND"}"#, "change_courier", 3),
    (4, 200, #"{"zones":[{"serverErrorCode":"ZONE_NOT_FOUND"}]}"#, "change_fetch", 3),
    (4, 200, #"{"zones":[{"records":[]}]}"#, "change_fetch", 3),
    (5, 503, "{}", "change_acknowledgement", 3),
    (6, 200, #"{"devices":[]}"#, "change_acknowledgement", 3),
  ])
  func `a refusal breaks its hop, and only what was made is removed`(
    place: Int, status: Int, body: String, code: String, made: Int
  ) throws {
    var walk = walk
    for (_, answer) in try goodWalk()[..<place] {
      _ = walk.next()
      _ = walk.answered(answer, took: .milliseconds(1))
    }
    _ = walk.next()
    let finding = walk.answered(try answer(body, status: status), took: .milliseconds(1))
    #expect(finding?.result == .failed && finding?.code?.text == code)
    #expect(finding?.cause?.isEmpty == false && finding?.remedy?.isEmpty == false)
    #expect(walk.next() == .done && walk.cleanUp.count == made)
    // A late answer changes nothing.
    #expect(walk.answered(try answer("{}"), took: .zero) == nil)
  }

  /// The request may have been carried out, though its answer was lost.
  @Test func `what a lost answer may have made is removed as well`() throws {
    var walk = walk
    #expect(walk.next() == .ask(.register))
    let finding = walk.answered(.unanswered("no answer within 10 s"), took: .seconds(10))
    #expect(finding?.code == .changeDevice && finding?.cause == "no answer within 10 s")
    #expect(walk.cleanUp == [.unregister])
  }

  /// All doctors are one user, so a wake may be about the zone of another doctor. The walk waits
  /// for a wake about its own zone.
  @Test func `a wake about another zone and an empty poll are waited over until it is late`() throws
  {
    var walk = walk
    for (_, answer) in try goodWalk()[..<3] {
      _ = walk.next()
      _ = walk.answered(answer, took: .milliseconds(1))
    }
    let other = #"{"zr":{"w":16,"z":[["doctor-other","_zonerelay-doctor",1]]}}"#
    #expect(walk.answered(try answer(other), took: .seconds(9)) == nil)
    #expect(walk.next() == .ask(.poll))
    #expect(walk.answered(.answered(status: 200, LooseJSON(nil)), took: .seconds(9)) == nil)
    var late = walk
    let finding = late.answered(.answered(status: 200, LooseJSON(nil)), took: .seconds(2))
    #expect(finding?.code == .changeCourier && finding?.cause?.contains("20 s") == true)
    let told = walk.answered(try answer(wake), took: .seconds(1))
    #expect(told?.result == .passed && told?.seconds == 19)
    // A wake that cannot name all its zones may be about this zone or not. So the doctor always
    // fetches the zone.
    #expect(walk.next() == .ask(.fetch))
  }

  @Test func `an acknowledgement that is not durable yet is looked at again`() throws {
    var walk = walk
    for (_, answer) in try goodWalk()[..<6] {
      _ = walk.next()
      _ = walk.answered(answer, took: .milliseconds(1))
    }
    let pending = #"{"devices":[{"pending":1}]}"#
    #expect(walk.next() == .askLater(.confirm))
    #expect(walk.answered(try answer(pending), took: .milliseconds(1)) == nil)
    #expect(walk.next() == .askLater(.confirm))
    let finding = walk.answered(try answer(pending), took: .seconds(20))
    #expect(finding?.code == .changeAcknowledgement)
  }

  private func acknowledgedWalk() throws -> ChangeWalk {
    var walk = walk
    for (_, answer) in try goodWalk()[..<6] {
      _ = walk.next()
      _ = walk.answered(answer, took: .milliseconds(1))
    }
    return walk
  }

  /// The answers of a fast relay take no time, but the pauses between the questions do.
  @Test func `the pauses count as time of the acknowledgement`() throws {
    var walk = try acknowledgedWalk()
    let pending = try answer(#"{"devices":[{"pending":1,"lane":"watching"}]}"#)
    var asked = 0
    var finding: Finding?
    while finding == nil, asked < 1_000 {
      #expect(walk.next() == .askLater(.confirm))
      finding = walk.answered(pending, took: .zero)
      asked += 1
    }
    #expect(finding?.code == .changeAcknowledgement && finding?.cause?.contains("20 s") == true)
    #expect(asked == 400, "20 s have 400 pauses of 50 ms")
  }

  /// All doctors are one user, whose subscriptions fire for all the user's devices. So the change
  /// of another doctor also pends for this doctor's device.
  @Test func `a change of another doctor that no wake has told is not waited for`() throws {
    var walk = try acknowledgedWalk()
    #expect(walk.next() == .askLater(.confirm))
    let others = try answer(#"{"devices":[{"pending":1,"lane":"due"}]}"#)
    #expect(walk.answered(others, took: .milliseconds(1))?.result == .passed)
    #expect(walk.next() == .done)
  }

  /// A device that was registered less than ten minutes ago may belong to a run that is under way,
  /// so the doctor does not remove that device.
  @Test func `earlier runs are cleaned up after ten minutes, sixteen at once`() throws {
    let now = Instant(milliseconds: 1_795_000_000_000)
    let limit = (now + .minutes(-10)).milliseconds
    func list(_ times: [Int64]) throws -> LooseJSON {
      let devices = times.enumerated().map {
        #"{"clientId":"c\#($0.offset)","registeredAt":\#($0.element)}"#
      }
      return try LooseJSON(body: Array("{\"devices\":[\(devices.joined(separator: ","))]}".utf8))
    }
    let found = WalkNames.left(in: try list([limit + 1, limit, limit - 1]), at: now)
    #expect(found.map(\.client) == ["c2", "c1"])
    for count in [15, 16, 17] {
      let left = WalkNames.left(in: try list(Array(repeating: limit, count: count)), at: now)
      #expect(left.count == min(16, count))
    }
  }
}
