import RelayCore
import RelayEngine

extension Change.Event {
  var name: String {
    switch self {
    case .record(let record):
      switch record.verb {
      case .created: "record.created"
      case .updated: "record.updated"
      case .deleted: "record.deleted"
      }
    case .zone(.created): "zone.created"
    case .zone(.deleted): "zone.deleted"
    case .zone(.purged): "zone.purged"
    case .zone(.reset): "zone.reset"
    case .granted: "share.granted"
    case .revoked: "share.revoked"
    }
  }
}

extension ZoneID {
  /// The zone as operators name it.
  var text: String { "\(owner.name)/\(name)" }
}

extension TracedPart {
  var kind: String {
    switch self {
    case .zone: "zone"
    case .query: "query"
    case .many: "many"
    case .alert: "alert"
    }
  }

  var text: String {
    switch self {
    case .zone(let zone, _): zone.text
    case .query: "notifications"
    case .many: "further zones"
    case .alert: "alert"
    }
  }
}

extension Lane.Wait {
  var name: String {
    switch self {
    case .window: "window"
    case .rest: "rest"
    case .alertBudget: "alert budget"
    case .backgroundBudget: "background budget"
    case .slot: "slot"
    case .nextPoll: "next poll"
    case .acknowledgement: "acknowledgement"
    }
  }
}

extension TracedWake.Cause {
  var name: String {
    switch self {
    case .news: "news"
    case .ladder: "not acknowledged"
    case .fallback: "told by courier only"
    }
  }
}

extension Verdict {
  /// The verdict's name, and the reason that came with it.
  var words: (String, String?) {
    switch self {
    case .delivered: ("delivered", nil)
    case .deliveredElsewhere: ("delivered", "in the provider's other environment")
    case .later(_, _, let reason): ("later", reason.text)
    case .gone(_, let reason): ("gone", reason.text)
    case .rejected(let reason): ("rejected", reason.text)
    case .tooLarge(let reason): ("too large", reason.text)
    }
  }
}

extension TracedReceipt {
  /// How the relay learned what the device has received: the page that the device read, or what the
  /// device sent.
  var kind: String {
    switch self {
    case .acknowledged(.notifications(_, .page)): "page of notifications"
    case .acknowledged(.notifications(_, .token)): "token of notifications"
    case .acknowledged(.zone(_, _, _, .page)): "page of the zone"
    case .acknowledged(.zone(_, _, _, .token)): "token of the zone"
    case .acknowledged(.listed): "page of the database"
    case .acknowledged(.wake): "wakes/acknowledge"
    case .connected: "Last-Event-ID"
    case .marked: "read mark"
    }
  }
}
