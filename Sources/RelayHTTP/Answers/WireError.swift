package import HTTPTypes
import Hummingbird
import RelayCore
import RelayEngine
import RelayWire

/// The error answer for a request, or for one item of a request, that is not carried out.
package struct WireError: Error, Hashable, Sendable {
  package var code: ServerErrorCode
  package var reason: String
  package var retryAfterSeconds: Int?
  package var status: HTTPResponse.Status
  /// The methods that the endpoint accepts, for the `Allow` header of a 405; otherwise `nil`.
  package var allow: String?

  package init(
    _ code: ServerErrorCode, _ reason: String, retryAfterSeconds: Int? = nil,
    status: HTTPResponse.Status? = nil, allow: String? = nil
  ) {
    (self.code, self.reason, self.retryAfterSeconds) = (code, reason, retryAfterSeconds)
    self.status = status ?? code.status
    self.allow = allow
  }

  /// The answer for an error that a request, or an item of it, has met.
  ///
  /// - Throws: `error` itself, if it breaks the connection.
  init(answering error: any Error) throws {
    switch error {
    case let error as WireError: self = error
    case let problem as JSONProblem: self.init(problem)
    case let unavailable as Unavailable: self.init(unavailable)
    case let failure as StoreError: self.init(failure)
    default: throw error
    }
  }

  init(_ problem: JSONProblem) { self.init(.badRequest, problem.description) }

  init(_ unavailable: Unavailable) {
    if unavailable == .requestTooLarge {
      self.init(.quotaExceeded, "the relay's store takes no request of this size; split it")
      return
    }
    let (code, reason): (ServerErrorCode, String) =
      switch unavailable {
      case .storeSlow: (.tryAgainLater, "the relay's store takes too long")
      case .inboxFull: (.throttled, "the relay's inbox is full")
      case .fanOutsFull: (.tryAgainLater, "too many wide changes are being spread")
      case .forwardsFull: (.tryAgainLater, "too much is on its way to other users")
      case .readersFull: (.tryAgainLater, "too many readers wait")
      case .storeFull: (.tryAgainLater, "the relay's store has no room left")
      case .storeUnwritable, .requestTooLarge:
        (.tryAgainLater, "the relay could not write its store")
      case .recovering: (.tryAgainLater, "the relay is starting")
      case .draining: (.tryAgainLater, "the relay is stopping")
      case .storeUnreadable: (.tryAgainLater, "the relay could not read its store")
      }
    let mayHold: Set<Unavailable> = [.storeSlow, .storeFull, .storeUnwritable]
    let remedy =
      mayHold.contains(unavailable)
      ? "repeat the whole request, what was taken counts once"
      : "nothing was taken, repeat the whole request"
    self.init(
      code, "\(reason); \(remedy)", retryAfterSeconds: unavailable.retryAfterSeconds)
  }

  init(_ failure: StoreError) {
    switch failure.code {
    case .corrupt, .newer:
      self.init(.internalError, "the relay's store is damaged; its operator must look at it")
    default:
      self.init(
        .tryAgainLater, "the relay could not read its store; try again", retryAfterSeconds: 5)
    }
  }

  init(_ refusal: Refusal) {
    switch refusal {
    case .duplicateSubscription(let twin):
      self.init(.badRequest, "subscription is duplicate of '\(twin.name)'")
    case .tooManySubscriptions(let max):
      self.init(full: "a user has at most \(max) subscriptions; delete one first")
    case .tooManySubscriptionBytes(let max):
      self.init(full: "a user's subscriptions have at most \(max) bytes together; delete one first")
    case .tooManyDevices(let most, let roomIn):
      // After `roomIn` the first courier address lapses, which makes room for another device. If
      // all devices have a provider's address, only the user can make room: by unregistering one.
      self.init(
        full: "a user has at most \(most) devices; unregister one first",
        retryAfterSeconds: roomIn.map { max(1, Int(($0.milliseconds + 999) / 1_000)) } ?? 3_600)
    case .tooManyParticipants(let max):
      self.init(full: "a zone has at most \(max) participants; revoke one first")
    case .tooManyZones(let max):
      self.init(full: "a user's database has at most \(max) zones; delete one first")
    case .tooManyRecords(let max):
      self.init(full: "a zone has at most \(max) records; delete one first")
    case .tooManyReadMarks(let max):
      self.init(
        full: "\(max) read marks of this user are being written; nothing was marked, "
          + "repeat the request",
        retryAfterSeconds: 1)
    case .unknownSubscription:
      self.init(.notFound, "there is no subscription of this id in this database")
    }
  }

  /// The error when the limit for a number of things, such as a user's devices, is reached. Trying
  /// again within the hour seldom helps: the caller must first make room.
  private init(full reason: String, retryAfterSeconds: Int = 3_600) {
    self.init(.throttled, reason, retryAfterSeconds: retryAfterSeconds)
  }

  static func wrongMethod(_ allowed: [HTTPRequest.Method]) -> WireError {
    let allow = allowed.map(\.rawValue).joined(separator: ", ")
    return WireError(
      .badRequest, "this address answers to \(allow)", status: .methodNotAllowed, allow: allow)
  }

  /// The answer for a zone that is deleted, unknown or not open to the caller. The answer is the
  /// same in all three cases, so that it reveals nothing about zones of other users (P9).
  static let zoneNotFound = WireError(.zoneNotFound, "Zone does not exist")
  static let noSync = WireError(.badRequest, "AppDefaultZone does not support sync semantics")

  /// True if the error concerns the relay and not one item. Such an error fails the whole request.
  var isOfTheRelay: Bool {
    switch code {
    case .tryAgainLater, .internalError: true
    default: false
    }
  }

  /// Writes the members of an error object. For an item's error, the caller also writes the member
  /// that names the item.
  func write(into json: inout JSONWriter) {
    json.string("uuid", RandomID.text())
    json.string("serverErrorCode", code.rawValue)
    json.string("reason", reason)
    if let retryAfterSeconds { json.integer("retryAfter", retryAfterSeconds) }
  }

  var response: Response { response(.object { write(into: &$0) }) }

  /// A response with this error's status and header fields, and with `json` as its body.
  func response(_ json: JSONWriter) -> Response {
    var response = Response(json, status: status)
    if let retryAfterSeconds { response.headers[.retryAfter] = "\(retryAfterSeconds)" }
    if let allow { response.headers[.allow] = allow }
    return response
  }
}
