/// What a request of the doctor's walk got.
enum WalkAnswer {
  case answered(status: Int, LooseJSON)
  /// There is no answer, or one that cannot be read.
  case unanswered(String)
}

/// Why an answer breaks a hop.
struct WalkFault: Error, Hashable {
  var cause: String
}

extension WalkAnswer {
  /// The answer's JSON if its status is the expected one.
  func body(expecting expected: Int = 200) throws(WalkFault) -> LooseJSON {
    switch self {
    case .unanswered(let reason): throw WalkFault(cause: reason)
    case .answered(expected, let body): return body
    case .answered(let status, let body): throw WalkFault(cause: Self.refusal(status, body))
    }
  }

  /// A sentence for a refusal: its status, and the code and the reason from its body.
  static func refusal(_ status: Int, _ body: LooseJSON) -> String {
    let words = [body["serverErrorCode"].string, body["reason"].string].filter { !$0.isEmpty }
    return "the relay answered \(status)"
      + (words.isEmpty ? "" : ": " + words.joined(separator: ", "))
  }
}

extension PublicURLEvidence {
  /// - Parameter answer: what the relay at `url` says of the doctor's devices.
  init(url: String, devices answer: WalkAnswer, _ names: WalkNames) {
    self.url = url
    do throws(WalkFault) {
      let devices = try answer.body()["devices"].array
      let isKnown = devices.contains { $0["clientId"].string == names.client }
      outcome =
        isKnown
        ? .thisRelay
        : .other("the relay there does not know the doctor's device, so it is another one")
    } catch {
      outcome = .other("the doctor's device was asked for there: \(error.cause)")
    }
  }
}

extension ChangeWalk.State {
  /// The state after an answer; the same state if the request must be asked again.
  func after(_ answer: WalkAnswer, _ names: WalkNames) throws(WalkFault) -> Self {
    switch self {
    case .begun:
      let address = try answer.body()["webcourierURL"].string
      guard !address.isEmpty else { throw WalkFault(cause: "the answer has no webcourierURL") }
      return .registered
    case .registered:
      try Self.checkItem(try answer.body()["subscriptions"].array.first)
      return .subscribed
    case .subscribed:
      let body = try answer.body(expecting: 202)
      guard body["accepted"].int == 1 else { throw WalkFault(cause: "the answer is \(body.text)") }
      return .posted
    case .posted: return Self.wake(in: try answer.body(), names).map { .told(wake: $0) } ?? self
    case .told(let wake):
      let zone = try answer.body()["zones"].array.first
      try Self.checkItem(zone)
      let records = zone?["records"].array ?? []
      guard records.contains(where: { $0["recordName"].string == names.record }) else {
        throw WalkFault(
          cause: "the page of the zone lists \(records.count) records, not the new one")
      }
      return .fetched(wake: wake)
    case .fetched:
      _ = try answer.body()
      return .acknowledged
    case .acknowledged:
      let device = try answer.body()["devices"].array.first
      guard let device else {
        throw WalkFault(cause: "the relay does not know the device any more")
      }
      // All doctors are one user, whose subscriptions fire for all the user's devices. So the
      // relay wakes this device for other doctors' changes, too. A wake has told of this walk's
      // change already, so a lane that is still `due` waits to tell of another doctor's change.
      let isOfOthers = device["lane"].string == "due"
      return device["pending"].int == 0 || isOfOthers ? .done : self
    case .done, .broken: return self
    }
  }

  /// Throws the error of an item; such an error stands in an answer of status 200.
  private static func checkItem(_ item: LooseJSON?) throws(WalkFault) {
    guard let item else { throw WalkFault(cause: "the answer has no item") }
    guard item["serverErrorCode"].string.isEmpty else {
      throw WalkFault(cause: "\(item["serverErrorCode"].string), \(item["reason"].string)")
    }
  }

  /// The number of a wake that names the zone, or that says that it cannot name all zones; nil for
  /// an empty answer, and for a wake about another doctor's zone.
  private static func wake(in payload: LooseJSON, _ names: WalkNames) -> Int? {
    let told = payload["zr"]
    let zones = told["z"].array.map { $0.array.first?.string ?? "" }
    guard zones.contains(names.zone) || told["m"].int == 1 else { return nil }
    return told["w"].int
  }
}

extension ChangeWalk.Hop {
  var code: FindingCode { texts.code }
  /// The hop as people read it.
  var subject: String { texts.subject }
  var success: String { texts.success }

  private var texts: (code: FindingCode, subject: String, success: String) {
    switch self {
    case .device: (.changeDevice, "a device registers", "the relay has registered it")
    case .subscription:
      (.changeSubscription, "it subscribes", "the relay has saved the subscription")
    case .post: (.changePost, "a producer reports a change", "202: the change is durable")
    case .courier:
      (.changeCourier, "the courier tells the device", "the wake names the changed zone")
    case .fetch: (.changeFetch, "the device fetches", "the page has the changed record")
    case .acknowledgement:
      (
        .changeAcknowledgement, "the device acknowledges",
        "nothing that it was told of pends any more"
      )
    }
  }

  func late(after spent: Duration) -> String {
    let seconds = Int(spent / .seconds(1))
    return self == .courier
      ? "no wake named the changed zone within \(seconds) s"
      : "the change still pends for the device after \(seconds) s"
  }
}
