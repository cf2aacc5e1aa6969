/// Why a change woke a device, or did not. An explanation is computed from the entries of the
/// flight recorder and from the device's standing, and never guessed: what the entries do not show
/// is unknown.
package struct Explanation: Hashable, Sendable {
  package var change: TracedChange
  package var device: DeviceKey
  package var outcome: Outcome
  /// The outcome of the change for each subscription that the change fired, in the order of the
  /// matches.
  package var deliveries: [Delivery]
  /// The entries that tell the story, in order.
  package var story: [TraceEntry]

  package enum Outcome: Hashable, Sendable {
    /// A provider took the wake with this number, which tells of the change.
    case woken(UInt32)
    case not(Reason)
    /// The entries that would show the outcome are missing.
    case unknown
  }

  package struct Delivery: Hashable, Sendable {
    package var subscription: SubscriptionID
    package var outcome: Outcome
    /// When the wake that told of the change was delivered.
    package var told: Instant?
    /// How and when the device first showed that it has the change.
    package var receipt: TracedReceipt?
    package var receiptAt: Instant?
  }
}

extension Explanation {
  /// Explains each change of this name. Several changes may have one name: a producer may repeat a
  /// source and id that the relay has forgotten, and two producers may use the same source and id.
  ///
  /// - Parameters:
  ///   - entries: what was recorded up to the moment of `standing`, in order. Entries that concern
  ///     neither the change nor the device may be left out, but not those of the device's user.
  ///   - standing: the device's standing at that moment.
  ///   - steps: the call adds the number of entries and deliveries that it examines.
  package static func of(
    _ notification: Identifier, in entries: [TraceEntry], _ standing: Standing,
    counting steps: inout Int
  ) -> [Explanation] {
    let places = places(of: notification, in: entries)
    return places.enumerated().map { number, found in
      let next = number + 1 < places.count ? places[number + 1].index : entries.count
      var story = ChangeStory(found.change, at: entries[found.index].at, for: standing)
      for (index, entry) in entries[found.index...].enumerated() {
        story.note(entry, isOfLaterChange: found.index + index >= next)
      }
      steps += entries.count - found.index + story.deliveries.looks
      return story.explanation()
    }
  }

  package static func of(
    _ notification: Identifier, in entries: [TraceEntry], _ standing: Standing
  ) -> [Explanation] {
    var steps = 0
    return of(notification, in: entries, standing, counting: &steps)
  }

  private static func places(
    of notification: Identifier, in entries: [TraceEntry]
  ) -> [(index: Int, change: TracedChange)] {
    var places: [(index: Int, change: TracedChange)] = []
    for (index, entry) in entries.enumerated() {
      guard case .change(let change) = entry.event, change.notification == notification,
        !places.contains(where: { $0.change.place == change.place })
      else { continue }
      places.append((index, change))
    }
    return places
  }
}
