@testable import RelayCore

extension SeededRandom {
  mutating func fact() -> Fact {
    switch number(0..<12) {
    case 0: .change(change())
    case 1:
      .register(
        Registration(scope: scope(), user: user(), client: client(), address: address()))
    case 2: .unregister(Unregistration(scope: scope(), user: user(), device: .client(client())))
    case 3: .unregister(Unregistration(scope: scope(), user: user(), device: .token(bytes())))
    case 4:
      .modify(
        SubscriptionsRequest(
          scope: scope(), user: user(), database: database(),
          operations: list(4) {
            $0.flag() ? .save($0.subscription()) : .delete(SubscriptionID($0.text()))
          }))
    case 5: .slice(Slice(origin: ordinal(), cursor: position()))
    case 6:
      .forwarded(Forwarded(source: partition(), serial: position(), message: message()))
    case 7:
      .expireTokens(
        TokenExpiry(
          container: maybe { $0.text() }, environment: maybe { $0.scope().environment },
          user: maybe { $0.user() }))
    case 8:
      .markRead(
        ReadRequest(
          scope: scope(), user: user(), client: maybe { $0.client() },
          notifications: list(4) { $0.identifier() }))
    case 9:
      .setBadge(
        BadgeRequest(
          scope: scope(), user: user(), topic: maybe { $0.text() }, badge: number(0..<1_000)))
    case 10: .lostHistory(feed(), since: position())
    case 11: .forget(through: ordinal())
    default: .tick
    }
  }

  mutating func message() -> Forwarded.Message {
    switch number(0..<3) {
    case 0: .change(change(), at: position())
    case 1:
      .displaced(
        Displacement(
          device: DeviceKey(scope: scope(), user: user(), client: client()),
          registration: ordinal()))
    default: .interests(list(3) { $0.interest() })
    }
  }

  mutating func message(ofBytes count: Int) -> Forwarded.Message {
    var interest = interest()
    interest.fields = .named([String(repeating: "x", count: count)])
    return .interests([interest])
  }

  mutating func forwarded(_ message: Forwarded.Message, to target: PartitionID) -> JournalEntry {
    JournalEntry(
      partition: target, ordinal: ordinal(), at: instant(),
      fact: .forwarded(Forwarded(source: partition(), serial: position(), message: message)))
  }

  mutating func interest() -> Interest {
    let names = list(3) { $0.text() }
    return Interest(
      key: Interest.Key(scope: scope(), database: pick([.public, .shared]), recordType: text()),
      fields: pick([.ended, .all, .named(names)]))
  }

  mutating func feed() -> FeedKey {
    switch number(0..<3) {
    case 0: FeedKey(scope: scope(), kind: .notifications(user()))
    case 1: FeedKey(scope: scope(), kind: .database(user(), database()))
    default: FeedKey(scope: scope(), kind: .zone(zone()))
    }
  }

  mutating func fanOut() -> FanOut {
    var out = FanOut(
      origin: ordinal(), change: change(), zonePosition: position(), cursor: position(),
      since: instant())
    out.turn = maybe { $0.position() }
    return out
  }

  mutating func numbers() -> SequenceTracker {
    SequenceTracker(
      spaces: list(3) { draw in
        SequenceSpace(
          origin: draw.next(), highest: Int64(draw.number(1_000..<1_000_000)),
          missing: draw.holes(),
          settled: Dictionary(
            draw.list(3) { ($0.next(), Int64($0.number(0..<1_000))) }, uniquingKeysWith: max))
      }, gap: pick([.none, .open, .permanent]),
      outlived: maybe {
        Outlived(
          origin: $0.next(), end: Int64($0.number(0..<1_000)),
          highest: Int64($0.number(0..<1_000)), holes: $0.holes(), since: $0.instant())
      })
  }

  /// Holes in order, all below 1,000.
  private mutating func holes() -> SequenceGaps {
    var last: Int64 = 0
    return SequenceGaps(
      list(3) { draw in
        let first = last + 1 + Int64(draw.number(0..<100))
        last = first + Int64(draw.number(0..<100))
        return SequenceGaps.Run(first: first, last: last, since: draw.instant())
      })
  }

  mutating func lane() -> LaneRecord {
    var pending = PendingSet()
    pending.waking = subjects()
    pending.quiet = subjects()
    pending.alerts = list(3) {
      PendingAlert(
        key: AlertKey(
          subscription: SubscriptionID($0.text()), database: $0.database(), subject: $0.text(),
          collapse: $0.maybe { $0.text() }), content: $0.content(), position: $0.position(),
        zonePosition: $0.position(), look: $0.maybe { $0.subscription().info }, isHot: $0.flag())
    }
    pending.lostAlerts = flag()
    return LaneRecord(
      reservedWake: UInt32(truncatingIfNeeded: next()),
      nextWake: UInt32(truncatingIfNeeded: next()),
      background: Budget(times: list(5) { $0.instant() }),
      alert: Budget(times: list(5) { $0.instant() }),
      learnt: LearntBudget(max: number(0..<13)), hasAcknowledged: flag(),
      ladderStep: number(0..<9), lastWake: instant(),
      retirement: maybe { Retirement(at: $0.instant(), reason: $0.text()) }, pending: pending,
      lastVerdict: maybe { LastVerdict(at: $0.instant(), text: $0.text()) },
      lastFetch: maybe { $0.instant() },
      fallback: maybe {
        PushFallback(
          first: UInt32(truncatingIfNeeded: $0.next()), last: UInt32(truncatingIfNeeded: $0.next()),
          until: $0.instant(), deadline: $0.instant())
      },
      slot: instant(), isElsewhere: flag(),
      silence: maybe {
        Silence(since: $0.instant(), wakes: $0.number(0..<99), isTold: $0.flag())
      }, hasTaken: flag())
  }

  mutating func feedback() -> Feedback {
    let news: Feedback.News =
      switch number(0..<3) {
      case 0: .retired(reason: text(), since: maybe { $0.instant() })
      case 1: .silent(since: instant(), wakes: number(0..<99))
      default: .returned
      }
    return Feedback(
      device: DeviceKey(scope: scope(), user: user(), client: client()), address: address(),
      registeredAt: instant(), registration: ordinal(), at: instant(), news: news)
  }

  private mutating func subjects() -> Subjects {
    var subjects = Subjects()
    subjects.zones = list(4) { $0.pending() }
    subjects.query = list(1) { $0.pending() }
    subjects.overflow = list(1) { $0.pending() }
    return subjects
  }

  private mutating func pending() -> Pending {
    var pending = Pending(
      content: content(), position: position(), zonePosition: position(), isFresh: flag(),
      toldBy: UInt32(number(0..<1_000)))
    pending.isCovered = flag()
    pending.isHot = flag()
    pending.isUrgent = flag()
    pending.isFreshOfAlert = flag()
    pending.isCoveredOfAlert = flag()
    return pending
  }

  private mutating func content() -> NotificationContent {
    let kind: NotificationContent.Kind =
      switch number(0..<3) {
      case 0:
        .query(
          record: text(), reason: pick([.created, .updated, .deleted]),
          values: list(3) { $0.field() }, isCut: flag())
      case 1: .zone
      default: .database
      }
    return NotificationContent(
      subscription: SubscriptionID(text()), notification: identifier(), database: database(),
      zone: zone(), kind: kind)
  }

  mutating func detail() -> Detail {
    switch number(0..<3) {
    case 0: .record(type: text(), tag: maybe { $0.text() }, author: maybe { $0.user() })
    case 1: .zone
    default:
      .notification(
        NotificationDetail(
          kind: pick([.query, .zone, .database]), database: database(),
          notification: identifier(),
          read: maybe {
            NotificationDetail.ReadMark(changed: $0.position(), device: $0.maybe { $0.client() })
          }))
    }
  }
}
