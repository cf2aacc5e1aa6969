/// The bytes that a value takes: roughly its memory, and never less than its encoded form in a
/// journal. Commits, the inbox and the outbox are bounded by this one number.
///
/// Memory and journal both count because of lists of small numbers: a member takes two bytes in a
/// request, ten in the journal, and more than fifty in memory.
extension Fact {
  package var footprint: Int {
    switch self {
    case .change(let change): change.footprint
    case .modify(let request):
      request.operations.reduce(Footprint.fact + request.scope.container.footprint) {
        $0 + $1.footprint
      }
    case .forwarded(let forwarded): forwarded.message.footprint
    case .markRead(let request): Footprint.fact + request.notifications.count * 16
    case .register(let request):
      Footprint.fact + request.user.name.footprint + request.address.token.count
        + request.address.topic.footprint
    case .unregister, .slice, .setBadge, .expireTokens, .lostHistory, .tick, .forget:
      // A fact of these kinds holds no long list: only names of at most 255 bytes each, or a token.
      Footprint.fact * 3
    }
  }
}

private enum Footprint {
  /// The bytes of a fact without its texts and lists.
  static let fact = 512
  /// A field's value or a member of a list, without its text.
  static let value = MemoryLayout<FieldValue>.stride
  /// The overhead of each allocation: its header and rounding.
  static let piece = 32
}

extension Change {
  package var footprint: Int {
    var bytes =
      Footprint.fact + scope.container.footprint + zone.name.footprint
      + zone.owner.name.footprint + (author?.user.name.footprint ?? 0)
    switch event {
    case .record(let record): bytes += record.footprint
    case .granted(let user), .revoked(let user): bytes += user.name.footprint
    case .zone: break
    }
    return bytes
  }
}

extension RecordChange {
  fileprivate var footprint: Int {
    let names = name.footprint + type.footprint + (tag?.footprint ?? 0)
    return fields.reduce(names) { $0 + $1.footprint }
  }
}

extension Field {
  package var footprint: Int { name.footprint + value.footprint + Footprint.piece }
}

extension FieldValue {
  package var footprint: Int {
    switch self {
    case .string(let text), .asset(let text): Footprint.value + text.footprint
    case .bytes(let bytes): Footprint.value + Footprint.piece + bytes.count
    case .reference(let name, let zone):
      Footprint.value + name.footprint
        + (zone.map { $0.name.footprint + $0.owner.name.footprint } ?? 0)
    case .list(let members):
      members.reduce(Footprint.value + Footprint.piece) { $0 + $1.footprint }
    case .int64, .double, .timestamp, .location: Footprint.value
    }
  }
}

extension Forwarded.Message {
  package var footprint: Int {
    switch self {
    case .change(let change, _): change.footprint
    case .displaced: Footprint.fact * 3
    case .interests(let interests):
      interests.reduce(Footprint.fact) { $0 + $1.footprint }
    }
  }
}

extension Interest {
  fileprivate var footprint: Int {
    let own = Footprint.fact / 4 + key.scope.container.footprint + key.recordType.footprint
    guard case .named(let names) = fields else { return own }
    return names.reduce(own) { $0 + $1.footprint }
  }
}

extension SubscriptionsRequest.Operation {
  fileprivate var footprint: Int {
    switch self {
    case .save(let subscription): subscription.footprint
    case .delete(let id): Footprint.piece + id.name.footprint
    }
  }
}

extension Subscription {
  fileprivate var footprint: Int {
    let own = Footprint.fact + id.name.footprint + info.footprint
    switch rule {
    case .query(let rule):
      let zone = rule.zone.map { $0.name.footprint + $0.owner.name.footprint } ?? 0
      return rule.filters.reduce(own + zone + rule.recordType.footprint) { $0 + $1.footprint }
    case .zone(let zone, let recordType):
      return own + zone.name.footprint + zone.owner.name.footprint
        + (recordType?.footprint ?? 0)
    case .database(let recordType):
      return own + (recordType?.footprint ?? 0)
    }
  }
}

extension QueryRule.Filter {
  /// The words of a search are stored in addition to its text.
  fileprivate var footprint: Int {
    words.reduce(Footprint.fact / 4 + field.footprint + value.footprint) {
      $0 + Footprint.piece + $1.text.footprint
    }
  }
}

extension NotificationInfo {
  fileprivate var footprint: Int {
    let texts = alert.texts + [sound, category, collapseKey]
    let lists = alert.arguments + [desiredKeys]
    return lists.joined().reduce(texts.reduce(0) { $0 + ($1?.footprint ?? 0) }) {
      $0 + Footprint.piece + $1.footprint
    }
  }
}

extension String {
  fileprivate var footprint: Int { utf8.count + Footprint.piece }
}
