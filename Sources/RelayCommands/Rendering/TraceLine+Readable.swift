import Foundation
import RelayWire

/// One entry as a line for people: the time, and a sentence.
extension TraceLine: Readable {
  func lines(_ paint: Paint) -> [String] { ["\(paint.faint(clock))  \(sentence)"] }

  /// The time in UTC, to the millisecond. An entry that marks missing entries may have no time.
  private var clock: String {
    guard at > 0 else { return "-" }
    let second = Date(timeIntervalSince1970: Double(at / 1_000))
    return second.formatted(.iso8601.time(includingFractionalSeconds: false))
      + String(format: ".%03d", Int(at % 1_000))
  }

  private var zone: String {
    zoneID.map { "\($0.ownerRecordName)/\($0.zoneName)" } ?? "-"
  }

  private var place: String { route.map { "\($0.transport)/\($0.topic)" } ?? "-" }

  private var device: String { "device \(clientId ?? "-") of \(user ?? "-")" }

  private var end: String { until.map { " until \(HumanFormat.moment($0))" } ?? "" }

  var sentence: String {
    switch event {
    case "began": "the daemon began"
    case "lost":
      "\(count.map { "\($0)" } ?? "an unknown number of") entries are missing here"
    case "missed":
      "\(count ?? 0) entries are not shown: they came faster than this tail was read; "
        + "name a device, user, zone or route to follow fewer"
    case "change": change
    case "forwarded": "the change is forwarded to \(count ?? 0) partitions"
    case "reached": "the change reached the user's partition"
    case "spreading": "the change concerns many users and spreads in slices"
    case "spread": "the change has reached all its users"
    case "matched": matched
    case "subscribed": "user \(user ?? "-"): subscription \(subscriptionID ?? "-") saved"
    case "unsubscribed": "user \(user ?? "-"): subscription \(subscriptionID ?? "-") deleted"
    case "joined": "user \(user ?? "-"): zone \(zone) is shared with the user"
    case "left": "user \(user ?? "-"): zone \(zone) is not shared with the user any more"
    case "route": "route \(place): \(kind ?? "-")\(reason.map { ", \($0)" } ?? "")\(end)"
    default: deviceSentence
    }
  }

  /// What a wake names. The wake of an alert that does not run the app names nothing.
  private var named: String {
    guard let names, !names.isEmpty else { return "" }
    return "names \(names.joined(separator: ", ")), "
  }

  private var change: String {
    let what = record.map { "\($0.recordName) (\($0.recordType))" } ?? names?.joined() ?? ""
    let author = user.map { ", by \($0)\(clientId.map { " with device \($0)" } ?? "")" } ?? ""
    let note = reason.map { ", \($0)" } ?? ""
    return "\(kind ?? "change") \(what) in \(zone), \(database ?? "-")\(author)\(note)"
  }

  private var matched: String {
    let outcomes = (devices ?? []).map { device in
      switch device.outcome {
      case "own": "\(device.clientId) made the change itself"
      case "retired": "\(device.clientId) is retired"
      default:
        "it pends for \(device.clientId)"
          + (device.until.map { ", gathering until \(HumanFormat.moment($0))" } ?? "")
      }
    }
    return "subscription \(subscriptionID ?? "-") of \(user ?? "-") matched: "
      + outcomes.joined(separator: "; ")
  }

  private var deviceSentence: String {
    switch event {
    case "registered": "\(device): registered with \(place)"
    case "unregistered": "\(device): unregistered"
    case "retired": "\(device): retired, \(reason ?? "-")"
    case "waits": "\(device): waits for \(kind ?? "-")\(end)"
    case "wake":
      "\(device): wake \(w ?? 0) over \(place), \(kind ?? "-"), apns-id \(apnsID ?? "-"), "
        + "\(named)because of \(reason ?? "-")"
    case "ended":
      "\(device): wake \(w ?? 0): \(kind ?? "-")\(reason.map { ", \($0)" } ?? "")"
        + (until.map { ", rests until \(HumanFormat.moment($0))" } ?? "")
    case "acknowledged": "\(device): acknowledged by \(kind ?? "-")\(w.map { " \($0)" } ?? "")"
    case "withdrawn":
      "\(device): withdrawn, \(subscriptionID.map { "subscription \($0)" } ?? "zone \(zone)")"
    case "hushed": "\(device): the alert does not fit into a push and is told without its text"
    default: event
    }
  }
}
