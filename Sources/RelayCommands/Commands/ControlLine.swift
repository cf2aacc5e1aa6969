import Foundation
import RelayCurl

/// Requests to the running daemon over its control socket.
struct ControlLine {
  var socket: String

  /// - Throws: `Failure` if the daemon is not running or refuses the request.
  func get<Report: Decodable>(
    _ path: String, _ query: [(String, String)] = [], as type: Report.Type
  ) async throws -> Report {
    var target = URLComponents()
    target.path = path
    if !query.isEmpty {
      target.queryItems = query.map { URLQueryItem(name: $0.0, value: $0.1) }
    }
    let body = try await send("GET", target.string ?? path, [])
    do {
      return try JSONDecoder().decode(Report.self, from: Data(body))
    } catch {
      throw Failure(
        .failed,
        "the daemon's answer to \(path) is not understood: \(error)",
        hint: "run the zonerelay of the same version as the daemon")
    }
  }

  /// - Throws: `Failure`, as `get` does.
  func post(_ path: String, _ body: Data = Data("{}".utf8)) async throws {
    _ = try await send("POST", path, Array(body))
  }

  private func send(_ method: String, _ target: String, _ body: [UInt8]) async throws -> [UInt8] {
    let client = ControlClient(socket: socket)
    let answer: HTTPAnswer
    do throws(ClientError) {
      answer = method == "GET" ? try await client.get(target) : try await client.post(target, body)
    } catch {
      switch error.code {
      case .noSocket, .refused:
        throw Failure(
          .notRunning, "no daemon answers on \(socket)",
          hint: "start it with zonerelay serve, or name its socket with --control")
      default: throw Failure(.failed, error.message, hint: error.remedy)
      }
    }
    guard answer.isSuccess else { throw Failure(refusal: answer) }
    return answer.body
  }
}

extension Failure {
  /// The fields of the daemon's error bodies that people need.
  private struct Refusal: Decodable {
    var serverErrorCode: String
    var reason: String
  }

  fileprivate init(refusal answer: HTTPAnswer) {
    // A body in another form is shown unchanged.
    let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(answer.body))
    let reason = refusal?.reason ?? answer.text
    self.init(
      .failed, "the daemon refuses: \(reason)",
      hint: refusal.map { "docs/troubleshooting.md explains \($0.serverErrorCode)" })
  }
}
