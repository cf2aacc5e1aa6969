internal import Foundation

/// The body of `tokens/register`, with the address at which a push provider reaches the
/// installation, and of `tokens/create`, for an installation that has only the courier.
struct RegistrationQuestion: Encodable {
  private var clientId: String
  private var apnsEnvironment: String?
  private var apnsToken: String?
  private var apnsTopic: String?
  private var transport: String?
  private var token: String?
  private var subscription: BrowserSubscription?

  /// - Throws: if `address` is `.webPush` and its JSON is no subscription of a browser.
  init(
    _ address: PushAddress, of installation: UUID, in environment: RelayAddress.Environment
  ) throws {
    clientId = installation.name
    switch address {
    case .apns(let token, let topic, let sandbox):
      apnsEnvironment = sandbox ? "development" : "production"
      apnsToken = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      apnsTopic = topic
    case .fcm(let token):
      transport = "fcm"
      self.token = token
    case .webPush(let json):
      transport = "webpush"
      do {
        subscription = try JSONDecoder().decode(BrowserSubscription.self, from: json)
      } catch {
        throw RelayError(.refused, "the JSON is no PushSubscription of a browser: \(error)")
      }
    case .courier: apnsEnvironment = environment.rawValue
    }
  }

  /// A browser's `PushSubscription`.
  private struct BrowserSubscription: Codable {
    var endpoint: String
    var keys: Keys

    struct Keys: Codable { var p256dh: String, auth: String }
  }
}

struct RegistrationAnswer: Decodable { var webcourierURL: String? }
