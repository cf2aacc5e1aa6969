import RelayClient
import RelayCore
import RelayFeedback

/// Carries feedback to the apps' servers by libcurl, on threads of its own: a server that hangs
/// keeps one of them until its timeout, and nobody else waiting. Redirects are not followed.
struct FeedbackPost: WebhookCarrier {
  /// Nobody reads the answer; a longer one is no answer of a webhook.
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
