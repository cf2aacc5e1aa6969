/// The parts of a wake that are dropped or shortened, so that its payload fits.
struct PayloadCut: Hashable {
  var dropped: Set<Part> = []
  /// The most bytes of each text and argument of the alert, as JSON. `nil` means that there is no
  /// limit.
  var textBytesMax: Int?

  var isNothing: Bool { dropped.isEmpty && textBytesMax == nil }

  /// The parts, in the order in which they are dropped. The texts are only shortened. When all
  /// other parts are dropped, one name is left, the subscription's, of at most 255 bytes. The
  /// payload then fits into a quarter of Apple's limit.
  enum Part: CaseIterable {
    case container, record, sound, launchImage, actionKey, texts, arguments, keys, badge, category,
      notification, zone, user
  }

  /// Every text is shortened down to this length before any part that `Part` lists after `texts` is
  /// dropped.
  static let textBytesLeast = 64

  /// All cuts that keep `shown` visible. Each cut removes more than the cut before it.
  static func all(showing shown: Part?) -> [PayloadCut] {
    var cuts: [PayloadCut] = []
    var last = PayloadCut()
    for part in Part.allCases where part != shown || part == .texts {
      if part == .texts {
        last.textBytesMax = textBytesLeast
      } else {
        last.dropped.insert(part)
      }
      cuts.append(last)
    }
    if shown == .texts {
      last.textBytesMax = 0
      cuts.append(last)
    }
    return cuts
  }
}

extension NotificationInfo {
  /// The parts that a person would see or hear, the most informative part first. A cut must keep
  /// one of these parts.
  func shown(badge: Int?) -> [PayloadCut.Part] {
    var parts: [PayloadCut.Part] = []
    let (texts, keys) = (
      [alert.title, alert.subtitle, alert.body], [alert.titleKey, alert.subtitleKey, alert.bodyKey]
    )
    if texts.contains(where: { $0?.isEmpty == false }) { parts.append(.texts) }
    if keys.contains(where: { $0?.isEmpty == false }) { parts.append(.keys) }
    if badge != nil { parts.append(.badge) }
    if sound?.isEmpty == false { parts.append(.sound) }
    return parts
  }
}

extension NotificationInfo.AlertText {
  /// The alert without the parts that `cut` drops.
  func cut(_ cut: PayloadCut) -> NotificationInfo.AlertText {
    var alert = self
    if cut.dropped.contains(.launchImage) { alert.launchImage = nil }
    if cut.dropped.contains(.actionKey) { alert.actionKey = nil }
    if cut.dropped.contains(.arguments) {
      (alert.bodyArguments, alert.titleArguments, alert.subtitleArguments) = ([], [], [])
    }
    if cut.dropped.contains(.keys) {
      (alert.bodyKey, alert.titleKey, alert.subtitleKey) = (nil, nil, nil)
    }
    guard let most = cut.textBytesMax else { return alert }
    func short(_ text: String?) -> String? { text.map { JSONText.shortened($0, bytesMax: most) } }
    (alert.title, alert.subtitle, alert.body) = (
      short(alert.title), short(alert.subtitle), short(alert.body)
    )
    func short(_ texts: [String]) -> [String] {
      texts.map { JSONText.shortened($0, bytesMax: most) }
    }
    alert.bodyArguments = short(alert.bodyArguments)
    alert.titleArguments = short(alert.titleArguments)
    alert.subtitleArguments = short(alert.subtitleArguments)
    return alert
  }

  /// The length of the longest text that may be shortened, in bytes of JSON.
  var longestText: Int {
    let texts = [title, subtitle, body].compactMap(\.self) + arguments.joined()
    return texts.map { JSONText.byteCount($0) }.max() ?? 0
  }
}
