import RelayCurl
import RelayCore
import RelayFeedback

/// Posts feedback to the apps' servers by libcurl, on threads of the client's own. A server that
/// does not answer blocks only one of these threads, until the request's timeout. The client
/// follows no redirect.
struct FeedbackPost: WebhookCarrier {
  /// The most bytes of an answer's body. The body is not used, and a webhook server has no reason
  /// for a larger one.
  static let answerBytesMax = 1 << 20

  private let client = HTTPClient(answerBytesMax: FeedbackPost.answerBytesMax)

  func carry(_ request: WebhookRequest) async throws(WebhookFailure) -> WebhookAnswer {
    let answer: HTTPAnswer
    do throws(ClientError) {
      answer = try await client.send(
        HTTPRequest(
          "POST", request.url, headers: request.headers, body: request.body,
          timeout: .milliseconds(request.timeout.milliseconds), trustRoots: request.trustRoots))
    } catch {
      throw WebhookFailure(error.message)
    }
    return WebhookAnswer(
      status: answer.status, retryAfter: answer.retryAfterSeconds.map { .seconds($0) })
  }
}
