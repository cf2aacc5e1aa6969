/// A user's subscription to changes. It fires for all the user's devices.
package struct Subscription: Hashable, Sendable {
  package var id: SubscriptionID
  package var database: Database
  package var rule: Rule
  package var info: NotificationInfo
  /// True if background wakes of the subscription may also spend the reserved share of the budget.
  /// CloudKit has no such setting.
  package var isUrgent: Bool

  package init(
    id: SubscriptionID, database: Database, rule: Rule, info: NotificationInfo,
    isUrgent: Bool = false
  ) {
    self.id = id
    self.database = database
    self.rule = rule
    self.info = info
    self.isUrgent = isUrgent
  }

  package enum Rule: Hashable, Sendable {
    case query(QueryRule)
    /// A custom zone of the user's own. With a record type, changes of records of other types do
    /// not fire the subscription, but the zone's feed lists them.
    case zone(ZoneID, recordType: String?)
    case database(recordType: String?)

    package static func == (left: Rule, right: Rule) -> Bool {
      switch (left, right) {
      case (.query(let left), .query(let right)): left == right
      case (.zone(let left, let leftType), .zone(let right, let rightType)):
        left == right && ByteOrdered.areSame(leftType, rightType)
      case (.database(let left), .database(let right)): ByteOrdered.areSame(left, right)
      default: false
      }
    }
  }
}

/// A query subscription's condition. The rule fires for records of one type whose fields pass every
/// filter.
package struct QueryRule: Hashable, Sendable {
  package var recordType: String
  package var filters: [Filter]
  package var firesOn: Firing
  package var firesOnce: Bool
  /// The zone whose changes fire the rule; `nil` means every zone of the database.
  package var zone: ZoneID?

  package init(
    recordType: String, filters: [Filter] = [], firesOn: Firing = .all, firesOnce: Bool = false,
    zone: ZoneID? = nil
  ) {
    self.recordType = recordType
    self.filters = filters
    self.firesOn = firesOn
    self.firesOnce = firesOnce
    self.zone = zone
  }

  package static func == (left: QueryRule, right: QueryRule) -> Bool {
    left.firesOn == right.firesOn && left.firesOnce == right.firesOnce && left.zone == right.zone
      && ByteOrdered.areSame(left.recordType, right.recordType) && left.filters == right.filters
  }

  /// CloudKit's firing option bits, without `once`.
  package struct Firing: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let create = Firing(rawValue: 1)
    package static let update = Firing(rawValue: 2)
    package static let delete = Firing(rawValue: 4)
    package static let all: Firing = [.create, .update, .delete]
  }
}

/// How a notification is shown: the notification options of CloudKit Web Services.
package struct NotificationInfo: Hashable, Sendable {
  package var alert = AlertText()
  package var sound: String?
  package var badges = false
  package var category: String?
  package var isContentAvailable = false
  package var isMutable = false
  /// Names of the record's fields that the push carries as `af`; at most 3.
  package var desiredKeys: [String] = []
  /// The name of the record's field whose value is the collapse key: an alert replaces an earlier
  /// one with the same value. Only query subscriptions have a collapse key.
  package var collapseKey: String?

  package init() {}

  package static func == (left: NotificationInfo, right: NotificationInfo) -> Bool {
    left.alert == right.alert && left.badges == right.badges
      && left.isContentAvailable == right.isContentAvailable && left.isMutable == right.isMutable
      && ByteOrdered.areSame(
        [left.sound, left.category, left.collapseKey] + left.desiredKeys,
        [right.sound, right.category, right.collapseKey] + right.desiredKeys)
  }

  /// Whether the notification has an alert, a badge or a sound. Its push then shows something to a
  /// person, and has high priority.
  package var isVisible: Bool { !alert.isEmpty || sound?.isEmpty == false || badges }

  /// Whether the notification's pushes run the app. Pushes that show nothing always do.
  package var runsApp: Bool { !isVisible || isContentAvailable }

  package struct AlertText: Hashable, Sendable {
    package var body: String?
    package var bodyKey: String?
    package var bodyArguments: [String] = []
    package var title: String?
    package var titleKey: String?
    package var titleArguments: [String] = []
    package var subtitle: String?
    package var subtitleKey: String?
    package var subtitleArguments: [String] = []
    package var actionKey: String?
    package var launchImage: String?

    package init() {}

    package static func == (left: AlertText, right: AlertText) -> Bool {
      ByteOrdered.areSame(left.texts, right.texts)
        && left.arguments.elementsEqual(right.arguments) { ByteOrdered.areSame($0, $1) }
    }

    var texts: [String?] {
      [body, bodyKey, title, titleKey, subtitle, subtitleKey, actionKey, launchImage]
    }

    /// The names of the fields whose values fill the texts, a list for each text.
    var arguments: [[String]] { [bodyArguments, titleArguments, subtitleArguments] }

    /// Whether no text is visible; a text may be present and empty.
    package var isEmpty: Bool {
      let isBlank = { (text: String?) in text?.isEmpty ?? true }
      return isBlank(body) && isBlank(bodyKey) && isBlank(title) && isBlank(titleKey)
        && isBlank(subtitle) && isBlank(subtitleKey)
    }
  }
}
