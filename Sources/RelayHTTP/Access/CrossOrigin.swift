import HTTPTypes
import Hummingbird

/// What a web page of another origin may do, and the header fields that state it to the browser
/// (CORS, the Fetch standard).
///
/// Pages of the origins that an environment lists may use the environment's endpoints for devices
/// and for the courier. The relay answers the request of any other page as usual, because the user
/// token alone decides what a request may do; but without these header fields the browser hides the
/// answer from the page.
struct CrossOrigin {
  /// The page's origin, as the configuration lists it; `nil` means that the origin is not listed.
  let listed: String?

  /// - Returns: nil if no web page sent the request, or if the endpoint is not for web pages.
  init?(
    _ request: Request, _ route: RequestRoute?, _ access: ScopeRegistry,
    _ addresses: CourierAddresses
  ) {
    guard let origin = request.headers[.origin] else { return nil }
    switch route {
    case .live, .ready, .events: return nil
    case .device(let scope, _), .database(let scope, _, _):
      listed = access.listed(origin, in: scope)
    case .courier(let token):
      listed = access.listed(origin, in: addresses.scope(of: token))
    case nil:
      listed = access.listed(origin, in: nil)
    }
  }

  /// True for a preflight, with which a browser asks whether a page may send a request.
  static func isPreflight(_ request: Request) -> Bool {
    request.method == .options && request.headers.contains(.origin)
  }

  /// Answers a preflight.
  ///
  /// - Throws: a 403 if the origin is not listed.
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

  /// Adds the header fields that tell the browser whether the page may see this answer or error.
  /// `Vary` prevents a cache that ignores `no-store` from giving the answer to another origin.
  func mark(_ fields: inout HTTPFields) {
    fields[.vary] = "Origin"
    guard let listed else { return }
    fields[.accessControlAllowOrigin] = listed
    fields[.accessControlExposeHeaders] = "retry-after"
  }

  private static let allowedHeaders =
    "authorization, content-type, last-event-id, x-apple-cloudkit-web-auth-token"
  /// How many seconds a browser may skip further preflights after the first. After an origin is
  /// removed from the list, its pages may send requests for this long, but they do not see the
  /// answers.
  private static let maxAge = "600"
}
