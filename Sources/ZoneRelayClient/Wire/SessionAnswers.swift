internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Collects the answers of one session's tasks, each within its request's limits of bytes and time,
/// and gives each once. It follows no redirection.
///
/// When a limit is passed, the request ends with an error. On Apple's systems its task is
/// cancelled. On Linux, where cancelling has crashed processes, the task goes on and what it brings
/// is dropped, until the server ends the answer or is silent for the timeout.
final class SessionAnswers: NSObject, URLSessionDataDelegate {
  private struct Answer {
    let bytesMax: Int
    let waiting: CheckedContinuation<RelayAnswer, any Error>
    let deadline: Task<Void, Never>
    var body = Data()
  }

  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var answers: [Int: Answer] = [:]

  /// Starts a task of the session and waits for its answer.
  func answer(of task: URLSessionDataTask, to request: RelayRequest) async throws -> RelayAnswer {
    let timeout = request.timeout
    return try await withCheckedThrowingContinuation { continuation in
      let deadline = Task { [weak self] in
        // The sleep throws only if the answer has come before.
        guard (try? await Task.sleep(for: timeout)) != nil else { return }
        let message = "no whole answer came within \(timeout.components.seconds) s"
        self?.fail(task, RelayError(.unreachable, message))
      }
      lock.withLock {
        answers[task.taskIdentifier] = Answer(
          bytesMax: request.answerBytesMax, waiting: continuation, deadline: deadline)
      }
      task.resume()
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let exceeded: Int? = lock.withLock {
      guard let answer = answers[dataTask.taskIdentifier] else { return nil }
      guard data.count <= answer.bytesMax - answer.body.count else { return answer.bytesMax }
      answers[dataTask.taskIdentifier]?.body.append(data)
      return nil
    }
    guard let exceeded else { return }
    fail(dataTask, RelayError(.badAnswer, "the answer has more than \(exceeded) bytes"))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    end(task) { body in
      guard let response = task.response as? HTTPURLResponse, error == nil else {
        throw error ?? URLError(.badServerResponse)
      }
      return RelayAnswer(
        status: response.statusCode, headers: URLSessionTransport.headers(of: response),
        body: body)
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    /// A proxy asks for a name and a password: the caller gets the proxy's answer. Apple's systems
    /// give this answer without this method; Linux would give nothing until the timeout.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (
          URLSession.AuthChallengeDisposition, URLCredential?
        ) -> Void
    ) {
      let response = challenge.failureResponse as? HTTPURLResponse
      end(task) { body in
        RelayAnswer(
          status: response?.statusCode ?? 401,
          headers: response.map(URLSessionTransport.headers) ?? [:], body: body)
      }
      completionHandler(.rejectProtectionSpace, nil)
    }
  #endif

  private func fail(_ task: URLSessionTask, _ error: RelayError) {
    end(task) { _ in throw error }
    #if !canImport(FoundationNetworking)
      task.cancel()
    #endif
  }

  /// Gives a task's result to the waiting caller. Only the first call for a task has an effect.
  private func end(_ task: URLSessionTask, with result: (Data) throws -> RelayAnswer) {
    guard let answer = lock.withLock({ answers.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    answer.deadline.cancel()
    answer.waiting.resume(with: Result { try result(answer.body) })
  }
}
