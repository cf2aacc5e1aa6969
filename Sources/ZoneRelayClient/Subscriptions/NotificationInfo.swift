/// What a subscription's push shows.
public struct NotificationInfo: Hashable, Sendable, Encodable {
  /// A text that the app has in several languages: its key, and the fields whose values stand in
  /// it.
  public struct Localization: Hashable, Sendable {
    public var key: String
    public var fields: [String]

    public init(_ key: String, fields: [String] = []) {
      self.key = key
      self.fields = fields
    }
  }

  private var title: String?
  private var titleLocalizationKey: String?
  private var titleLocalizationArgs: [String]?
  private var subtitle: String?
  private var subtitleLocalizationKey: String?
  private var subtitleLocalizationArgs: [String]?
  private var alertBody: String?
  private var alertLocalizationKey: String?
  private var alertLocalizationArgs: [String]?
  private var alertActionLocalizationKey: String?
  private var alertLaunchImage: String?
  private var soundName: String?
  private var category: String?
  private var shouldBadge: Bool?
  private var shouldSendContentAvailable: Bool?
  private var shouldSendMutableContent: Bool?
  /// Only query subscriptions have `additionalFields` and `collapseIDKey`. Each query subscription
  /// sets its own values.
  var additionalFields: [String]?
  var collapseIDKey: String?

  /// The push shows nothing, and lets the app run for a moment.
  public static let silent = NotificationInfo(shouldSendContentAvailable: true)

  /// The push shows a text. It also lets the app run, unless `runsApp` is false.
  public static func alert(
    _ body: String, title: String? = nil, subtitle: String? = nil, sound: String? = nil,
    runsApp: Bool = true
  ) -> NotificationInfo {
    NotificationInfo(
      title: title, subtitle: subtitle, alertBody: body, soundName: sound,
      shouldSendContentAvailable: runsApp)
  }

  /// The push shows texts that the app has in several languages.
  public static func alert(
    _ body: Localization, title: Localization? = nil, subtitle: Localization? = nil,
    sound: String? = nil, runsApp: Bool = true
  ) -> NotificationInfo {
    NotificationInfo(
      titleLocalizationKey: title?.key, titleLocalizationArgs: title?.fields,
      subtitleLocalizationKey: subtitle?.key, subtitleLocalizationArgs: subtitle?.fields,
      alertLocalizationKey: body.key, alertLocalizationArgs: body.fields, soundName: sound,
      shouldSendContentAvailable: runsApp)
  }

  /// A copy of this value whose push also raises the app's badge.
  public func withBadge() -> NotificationInfo {
    var info = self
    info.shouldBadge = true
    return info
  }

  /// A copy of this value with the app's category, action key and launch image. `mutableContent`
  /// lets an extension of the app change the notification before the system shows it.
  public func with(
    category: String? = nil, actionKey: String? = nil, launchImage: String? = nil,
    mutableContent: Bool = false
  ) -> NotificationInfo {
    var info = self
    info.category = category
    info.alertActionLocalizationKey = actionKey
    info.alertLaunchImage = launchImage
    if mutableContent { info.shouldSendMutableContent = true }
    return info
  }
}
