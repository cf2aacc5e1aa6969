import NIOCore

/// Sets up users, one after another on each connection. All requests of each user must succeed.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only.
final class Enrolment: LoadCaller, @unchecked Sendable {
  /// Makes the requests of one user, which the user's token authenticates.
  typealias Requests = @Sendable (_ user: Int, _ token: String) -> [ByteBuffer]

  /// The number of concurrent connections: enough for registrations to share the folds that they
  /// wait for.
  private static let connections = 256

  private var users: [Int]
  private let requests: Requests
  private var waiting: [ByteBuffer] = []

  private init(_ users: [Int], _ requests: @escaping Requests) {
    (self.users, self.requests) = (users, requests)
  }

  /// Returns when all requests of all users have succeeded.
  static func run(
    _ users: Range<Int>, on daemon: MeasuredDaemon, _ bench: Workbench,
    _ requests: @escaping Requests
  ) async throws {
    let callers = (0..<min(connections, users.count)).map { first in
      Enrolment(users.indices.filter { $0 % connections == first }.map { users[$0] }, requests)
    }
    let exchange = try await LoadExchange(callers, to: .port(daemon.port), group: bench.group)
    try await exchange.run(within: .minutes(10))
  }

  static func name(_ user: Int) -> String { "_user\(user)" }

  func next(after answer: LoadAnswer?) throws -> Turn {
    if let answer {
      guard answer.status == 200, !answer.text.contains("serverErrorCode") else {
        throw BenchError("a user was refused, \(answer.status): \(answer.text.prefix(500))")
      }
    }
    if waiting.isEmpty, let user = users.popLast() {
      waiting = requests(user, MeasuredDaemon.userToken(Self.name(user))).reversed()
    }
    return waiting.popLast().map { .send($0) } ?? .done
  }
}

extension Enrolment {
  /// The request that registers a phone of the user, with an APNs token.
  static func device(_ user: Int, token: String) -> ByteBuffer {
    let digits = String(user, radix: 16)
    let padded = String(repeating: "0", count: 12 - digits.count) + digits
    return RequestText.post(
      "/device/1/\(MeasuredDaemon.scope)/tokens/register", token: token,
      body: (#"{"apnsEnvironment":"development","apnsToken":""#
        + String(repeating: "0", count: 64 - digits.count) + digits
        + #"","clientId":"6f1c2a34-0000-4000-8000-\#(padded)"}"#).utf8)
  }

  /// The request for a subscription to the user's `private` or `shared` database.
  static func subscription(to database: String, token: String) -> ByteBuffer {
    subscription(
      in: database, #""subscriptionID":"\#(database)","subscriptionType":"database""#,
      token: token)
  }

  /// The request for a subscription to one record type of the public database.
  static func subscription(toPublic recordType: String, token: String) -> ByteBuffer {
    subscription(
      in: "public",
      #""subscriptionID":"\#(recordType)","subscriptionType":"query","#
        + #""query":{"recordType":"\#(recordType)"}"#, token: token)
  }

  private static func subscription(
    in database: String, _ members: String, token: String
  ) -> ByteBuffer {
    RequestText.post(
      "/database/1/\(MeasuredDaemon.scope)/\(database)/subscriptions/modify", token: token,
      body: (#"{"operations":[{"operationType":"create","subscription":{\#(members),"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}}]}"#).utf8)
  }
}
