import Foundation
import RelayCurl
import RelayWire
import Synchronization

/// Requests to the running daemon over its control socket.
struct ControlLine {
  var socket: String

  /// How long the daemon may take to answer.
  var wait = Duration.seconds(10)

  /// - Throws: `Failure` if the daemon is not running or refuses the request.
  func get<Report: Decodable>(
    _ path: String, _ query: [(String, String?)] = [], as type: Report.Type
  ) async throws -> Report {
    let body = try await send("GET", Self.target(path, query), [])
    do {
      return try JSONDecoder().decode(Report.self, from: Data(body))
    } catch {
      throw Failure(unreadable: "the daemon's answer to \(path)", error)
    }
  }

  /// - Throws: `Failure`, as `get` does.
  func post(_ path: String, _ body: Data = Data("{}".utf8)) async throws {
    _ = try await send("POST", path, Array(body))
  }

  /// Follows an answer of lines, and gives each line to `body`; `nil` stands for an empty line,
  /// which the daemon sends while nothing happens.
  ///
  /// - Parameter body: returns false to end the answer.
  /// - Throws: `Failure`, as `get` does. Returns when the daemon or `body` ends the answer, or the
  ///   task is cancelled.
  func follow(
    _ path: String, _ query: [(String, String?)], _ body: @escaping @Sendable (TraceLine?) -> Bool
  ) async throws {
    let lines = Lines(body)
    let target = Self.target(path, query)
    let answer: HTTPAnswer
    do throws(ClientError) {
      answer = try await ControlClient(socket: socket).follow(target) { lines.take($0) }
    } catch {
      if error.code == .cancelled {
        if let failure = lines.failure { throw failure }
        return
      }
      guard lines.haveBegun else { throw failure(error) }
      throw Failure(
        .failed, "the daemon's answer was cut off: \(error.message)",
        hint: "the daemon was killed, or it stopped while this command did not read; follow again")
    }
    guard answer.isSuccess else { throw Failure(refusal: answer) }
  }

  /// The path with those parts of the query that have a value.
  private static func target(_ path: String, _ query: [(String, String?)]) -> String {
    var target = URLComponents()
    target.path = path
    let items = query.filter { $0.1 != nil }.map { URLQueryItem(name: $0.0, value: $0.1) }
    if !items.isEmpty { target.queryItems = items }
    return target.string ?? path
  }

  private func failure(_ error: ClientError) -> Failure {
    switch error.code {
    case .noSocket, .refused:
      Failure(
        .notRunning, "no daemon answers on \(socket)",
        hint: "start it with zonerelay serve, or name its socket with --control")
    default: Failure(.failed, error.message, hint: error.remedy)
    }
  }

  private func send(_ method: String, _ target: String, _ body: [UInt8]) async throws -> [UInt8] {
    let client = ControlClient(socket: socket, timeout: wait)
    let answer: HTTPAnswer
    do throws(ClientError) {
      answer = method == "GET" ? try await client.get(target) : try await client.post(target, body)
    } catch {
      throw failure(error)
    }
    guard answer.isSuccess else { throw Failure(refusal: answer) }
    return answer.body
  }
}

extension ControlLine {
  /// Cuts bytes into lines, and decodes each.
  private final class Lines: Sendable {
    private let body: @Sendable (TraceLine?) -> Bool
    private let state = Mutex<(rest: [UInt8], failure: Failure?, haveBegun: Bool)>(([], nil, false))

    init(_ body: @escaping @Sendable (TraceLine?) -> Bool) { self.body = body }

    /// Why the daemon's lines cannot be read; `nil` means that they could be read so far.
    var failure: Failure? { state.withLock { $0.failure } }

    /// Whether a byte of the answer has come.
    var haveBegun: Bool { state.withLock { $0.haveBegun } }

    /// - Returns: false to end the answer.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
      let parts = state.withLock { state -> [[UInt8]] in
        state.haveBegun = true
        state.rest += bytes
        var parts = state.rest.split(
          separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { Array($0) }
        state.rest = parts.removeLast()
        return parts
      }
      for part in parts {
        do {
          let line = try part.isEmpty ? nil : JSONDecoder().decode(TraceLine.self, from: Data(part))
          guard body(line) else { return false }
        } catch {
          state.withLock {
            $0.failure = Failure(unreadable: "a line of the daemon", error)
          }
          return false
        }
      }
      return true
    }
  }
}

extension Failure {
  fileprivate init(unreadable what: String, _ error: any Error) {
    self.init(
      .failed, "\(what) is not understood: \(error)",
      hint: "run the zonerelay of the same version as the daemon")
  }

  fileprivate init(refusal answer: HTTPAnswer) {
    // A body that is not JSON with a code and a reason is shown unchanged.
    let body = try? LooseJSON(body: answer.body)
    guard let code = body?["serverErrorCode"].value as? String,
      let reason = body?["reason"].value as? String
    else {
      self.init(.failed, "the daemon refuses: \(answer.text)")
      return
    }
    self.init(
      .failed, "the daemon refuses: \(reason)",
      hint: "docs/troubleshooting.md explains \(code)")
  }
}
