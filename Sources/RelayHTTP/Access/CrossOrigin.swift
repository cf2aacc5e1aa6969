import HTTPTypes
import Hummingbird

/// What a page of another origin may do, and how its browser is told (CORS, the Fetch standard).
///
/// The endpoints of devices and of the courier are for pages of the listed origins of their
/// environment. A request of another page is answered as any other, since its user token alone says
/// what it may do; but without these fields its browser does not show it the answer.
struct CrossOrigin {
  /// The listed origin that asks; nil: it is not listed.
  let listed: String?

  /// - Returns: nil if no page asks, or at an endpoint that is not for pages.
  init?(_ request: Request, _ route: RequestRoute?, _ api: API) {
    guard let origin = request.headers[.origin] else { return nil }
    switch route {
    case .live, .ready, .events: return nil
    case .device(let scope, _), .database(let scope, _, _):
      listed = api.access.listed(origin, in: scope)
    case .courier(let token):
      listed = api.access.listed(origin, in: api.courierAddresses.scope(of: token))
    case nil:
      listed = api.access.listed(origin, in: nil)
    }
  }

  /// True for the question that a browser asks before the request of a page: may it ask so?
  static func isPreflight(_ request: Request) -> Bool {
    request.method == .options && request.headers.contains(.origin)
  }

  /// - Throws: 403 if the origin is not listed.
  func preflight(_ route: RequestRoute) throws(WireError) -> Response {
    guard listed != nil else {
      throw WireError(
        .accessDenied,
        "pages of this origin may not ask here; the operator lists those that may in `origins`")
    }
    return Response(
      status: .noContent,
      headers: [
        .cacheControl: "no-store",
        .accessControlAllowMethods: route.methods.map(\.rawValue).joined(separator: ", "),
        .accessControlAllowHeaders: Self.allowedHeaders, .accessControlMaxAge: Self.maxAge,
      ])
  }

  /// Tells the browser whether the page may see an answer, an error too. The answer to another
  /// origin differs, should anything between keep it in spite of `no-store`.
  func mark(_ fields: inout HTTPFields) { Self.mark(&fields, for: listed) }

  static func mark(_ fields: inout HTTPFields, for listed: String?) {
    fields[.vary] = "Origin"
    guard let listed else { return }
    fields[.accessControlAllowOrigin] = listed
    fields[.accessControlExposeHeaders] = "retry-after"
  }

  private static let allowedHeaders =
    "authorization, content-type, last-event-id, x-apple-cloudkit-web-auth-token"
  /// Seconds. Spares a page the question before each request; an origin that is taken from the list
  /// may ask so much longer, and does not see the answer.
  private static let maxAge = "600"
}
