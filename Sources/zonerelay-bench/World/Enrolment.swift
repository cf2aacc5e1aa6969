import Foundation
import NIOCore

/// Sets up users, one after another on each connection. All requests of each user must succeed.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; what it found is
/// read after the run.
final class Enrolment: LoadCaller, @unchecked Sendable {
  /// Makes the requests of one user.
  typealias Requests = @Sendable (_ user: Int) -> [ByteBuffer]

  /// The number of concurrent connections: enough for registrations to share the folds that they
  /// wait for.
  private static let connections = 256

  private var users: [Int]
  private let key: StaticString?
  private let requests: Requests
  private var waiting: [ByteBuffer] = []
  private var found: [String] = []

  private init(_ users: [Int], _ key: StaticString?, _ requests: @escaping Requests) {
    (self.users, self.key, self.requests) = (users, key, requests)
  }

  /// Returns when all requests of all users have succeeded.
  ///
  /// - Returns: the text that follows `key` in each answer that has it.
  @discardableResult
  static func run(
    _ users: Range<Int>, on daemon: MeasuredDaemon, collecting key: StaticString? = nil,
    _ requests: @escaping Requests
  ) async throws -> [String] {
    let callers = (0..<min(connections, users.count)).map { first in
      Enrolment(
        users.indices.filter { $0 % connections == first }.map { users[$0] }, key, requests)
    }
    try await daemon.serve(callers, within: .minutes(10))
    return callers.flatMap(\.found)
  }

  static func name(_ user: Int) -> String { "_user\(user)" }
  static func token(_ user: Int) -> String { MeasuredDaemon.userToken(name(user)) }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
        throw BenchError("a user was refused, \(answer.status): \(answer.text.prefix(500))")
      }
      if let key, let text = answer.string(after: key) { found.append(text) }
    }
    if waiting.isEmpty, let user = users.popLast() { waiting = requests(user).reversed() }
    return waiting.popLast().map { .send($0) } ?? .done
  }
}

extension Enrolment {
  /// The request that registers a phone of the user, with an APNs token.
  static func device(_ user: Int, token: String) -> ByteBuffer {
    RequestText.device(
      "tokens/register", token: token,
      String(
        format: #"{"apnsEnvironment":"development","apnsToken":"%064lx","#
          + #""clientId":"6f1c2a34-0000-4000-8000-%012lx"}"#, user, user))
  }

  /// The request for a subscription to the user's `private` or `shared` database.
  static func subscription(to database: String, token: String) -> ByteBuffer {
    subscription(database, in: database, #""subscriptionType":"database""#, token: token)
  }

  /// The request for a subscription to one record type of the public database.
  ///
  /// - Parameter filter: a further member of the query, beginning with a comma.
  static func subscription(
    toPublic recordType: String, filter: String = "", token: String
  ) -> ByteBuffer {
    subscription(
      recordType, in: "public",
      #""subscriptionType":"query","query":{"recordType":"\#(recordType)"\#(filter)}"#,
      token: token)
  }

  static func subscription(
    _ id: String, in database: String, _ members: String, token: String
  ) -> ByteBuffer {
    RequestText.database(
      database, "subscriptions/modify", token: token,
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"\#(id)","#
        + members + #","notificationInfo":{"shouldSendContentAvailable":true}}}]}"#)
  }
}
