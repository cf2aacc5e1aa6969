import RelayCore

extension WorldEvent {
  /// The event as one line of text, for people who replay a seed.
  var line: String {
    switch self {
    case .taken(let push): "provider takes wake \(push.attempt.wake) of \(push.attempt.device.line)"
    case .verdict(_, let attempt, let verdict):
      "verdict \(verdict) on wake \(attempt.wake) of \(attempt.device.line)"
    case .fetch(let client, let feed): "client \(client) fetches \(feed.text)"
    default: String("\(self)".prefix(160))
    }
  }
}

extension DeviceKey {
  var line: String { "\(user.name)#\(client.bits.low & 0xff)" }
}

extension Fact {
  var line: String {
    switch self {
    case .change(let change): change.line
    case .forwarded(let forwarded):
      "from \(forwarded.source.number)/\(forwarded.serial.ordinal.number): "
        + (forwarded.message.change?.line ?? String("\(forwarded.message)".prefix(120)))
    case .register(let request):
      "register \(request.user.name)#\(request.client.bits.low & 0xff)"
        + " token \(request.address.token)"
    case .modify(let request):
      "\(request.user.name) \(request.database.name): "
        + request.operations.map(\.line).joined(separator: ", ")
    case .markRead(let request):
      "\(request.user.name) read \(request.notifications.map(\.text))"
    default: String("\(self)".prefix(200))
    }
  }
}

extension SubscriptionsRequest.Operation {
  fileprivate var line: String {
    switch self {
    case .save(let subscription):
      "save \(subscription.id.name)\(subscription.info.isVisible ? " visible" : "")"
    case .delete(let id): "delete \(id.name)"
    }
  }
}

extension Forwarded.Message {
  fileprivate var change: Change? {
    if case .change(let change, _) = self { change } else { nil }
  }
}

extension Change {
  fileprivate var line: String {
    let author = self.author?.client.map { "#\($0.bits.low & 0xff)" } ?? "no client"
    let what: String
    switch event {
    case .record(let record): what = "\(record.verb) \(record.name) \(record.type)"
    default: what = "\(event)"
    }
    return "\(database.name) \(zone.owner.name)/\(zone.name) \(what) by \(author) id \(fingerprint)"
  }
}

extension FeedCursor? {
  var line: String {
    guard let self else { return "nothing" }
    guard let head = self.scanHead else { return "\(self.position.ordinal.number)" }
    return "\(self.position.ordinal.number)"
      + " (scan from \(self.base.ordinal.number) to \(head.ordinal.number))"
  }
}

extension PageAnswer {
  var line: String {
    switch self {
    case .absent: "absent"
    case .expired(let why): "expired, \(why)"
    case .page(let page):
      "\(page.entries.count) entries to \(FeedCursor?.some(page.next).line)"
        + (page.hasMore ? ", more" : "")
    }
  }
}

extension Ledger {
  var line: String {
    "matched \(matched) + recovered \(recovered) = own \(own) merged \(merged) woken \(woken)"
      + " fetched \(fetched) withdrawn \(withdrawn) retired \(retired) expired \(expired)"
      + " pending \(pending)"
  }
}
