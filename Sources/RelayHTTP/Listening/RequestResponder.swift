package import Hummingbird
package import NIOCore

/// Answers the requests of one listener.
package protocol RequestResponder: Sendable {
  /// - Parameter channel: the connection, for the client's address, and for the courier, which
  ///   answers later and notices when the client disconnects.
  /// - Throws: only errors that break the connection; every other error becomes an answer.
  func respond(to request: Request, on channel: any Channel) async throws -> Response
}
