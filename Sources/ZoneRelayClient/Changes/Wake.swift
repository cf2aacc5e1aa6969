public import Foundation

/// A push of the relay: what the device has to fetch.
///
/// A push is a hint: it may come late, twice or not at all. The client's tokens decide what is
/// fetched.
public struct Wake: Hashable, Sendable {
  public struct Zone: Hashable, Sendable {
    public let id: ZoneID
    /// True if the zone must not be fetched before ``Wake/notBefore``.
    public let waits: Bool
  }

  /// The wake's number; each device has its own count. A repeated push has the same number.
  public let number: UInt32
  /// The record name of the user to whom the push belongs.
  public let user: String
  /// The container to which the push belongs; nil if the push does not say.
  public let container: String?
  /// The zones that have changes.
  public let zones: [Zone]
  /// True if query subscriptions have fired.
  public let hasNotifications: Bool
  /// True if more has changed than the push could name.
  public let hasMore: Bool
  /// The time before which zones that wait must not be fetched.
  public let notBefore: Date?

  /// Reads a push that the system has handed to the app, over APNs or FCM. The result is nil for
  /// any push that is not the relay's.
  public init?(userInfo: [AnyHashable: Any]) {
    guard let ck = Self.json(userInfo["ck"]), let zr = Self.json(userInfo["zr"]),
      JSONSerialization.isValidJSONObject(["ck": ck, "zr": zr]),
      // The check above leaves nothing that could fail.
      let json = try? JSONSerialization.data(withJSONObject: ["ck": ck, "zr": zr])
    else { return nil }
    self.init(json: json)
  }

  /// Reads a push dictionary from JSON, as the courier and Web Push bring it. The result is nil for
  /// any other JSON.
  public init?(json: Data) {
    // Other bytes than JSON are no push of the relay.
    guard let push = try? JSONDecoder().decode(PushDictionary.self, from: json) else { return nil }
    let zr = push.zr
    number = zr.w
    user = push.ck.ckuserid
    container = push.ck.cid
    zones = (zr.z ?? []).map { Zone(id: $0.zone, waits: $0.waits) }
    hasNotifications = zr.q == 1
    hasMore = zr.m == 1
    notBefore = zr.nb.map { Date(timeIntervalSince1970: $0) }
  }

  /// FCM brings each part as a text, APNs as a dictionary.
  private static func json(_ part: Any?) -> Any? {
    guard let text = part as? String else { return part }
    // A text that is not JSON is no part of a push.
    return try? JSONSerialization.jsonObject(with: Data(text.utf8))
  }
}

/// The members of a push dictionary that the client reads.
private struct PushDictionary: Decodable {
  var ck: CloudKit
  var zr: Pending

  struct CloudKit: Decodable {
    var ckuserid: String
    var cid: String?
  }

  struct Pending: Decodable {
    var w: UInt32
    var z: [Zone]?
    var q: Int?
    var m: Int?
    var nb: Double?
  }

  /// `[name, owner, database]`, with a fourth member 1 if the device must not fetch the zone yet.
  struct Zone: Decodable {
    var zone: ZoneID
    var waits: Bool

    init(from decoder: any Decoder) throws {
      var members = try decoder.unkeyedContainer()
      let name = try members.decode(String.self)
      zone = ZoneID(name: name, owner: try members.decode(String.self))
      _ = try members.decode(Int.self)
      waits = try members.isAtEnd ? false : members.decode(Int.self) == 1
    }
  }
}
