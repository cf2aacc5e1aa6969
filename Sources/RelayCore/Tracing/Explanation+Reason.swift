extension Explanation {
  /// Why a change has not woken a device with a push, or has not done so yet. The list is closed,
  /// and `docs/operations.md` explains each reason. If several reasons hold, the first in the order
  /// of the change's journey is given.
  package enum Reason: Hashable, Sendable {
    // Reasons why the change does not concern the device:

    /// The change repeats what holds already, or would end a default zone, or came too late: a
    /// change with a higher number had settled the same record or participant, or the zone's life
    /// had ended.
    case noEffect
    /// The change shares the zone with another user, or withdraws the zone from another user.
    case otherUser
    /// The zone was neither the user's own nor shared with the user when the change came.
    case zoneNotVisible
    /// The change is not stepped for this user yet.
    case onItsWay
    /// The device was not registered when the change came, or is no longer registered. `at` is when
    /// the registration ended; `nil` means that no entry shows this.
    case unregistered(at: Instant?)
    /// No subscription of the user is for this database, zone and record type.
    case noSubscription
    /// This subscription is for the change's database, zone and record type, but the subscription's
    /// filters or list of events exclude the change.
    case filterNotMet(SubscriptionID)
    /// The device made the change itself.
    case ownChange

    // Reasons why the change still waits to be told:

    /// The lane's window is open until then, so that further changes can join the push.
    case gathering(until: Instant)
    /// The store has not taken the change into the feeds yet.
    case notFolded
    case budget(until: Instant, isAlert: Bool)
    case paced(until: Instant)
    case resting(until: Instant, String)
    case quarantined(until: Instant, String)
    case routeStopped(String)
    case noProvider
    /// The device waits in its route's queue, or for another wake of its own.
    case queued
    /// The wake with this number is on its way.
    case underWay(UInt32)
    /// The relay waits for the device's next poll of the courier.
    case betweenPolls(until: Instant)
    case notConnected
    case stopping

    // Reasons why the device needed no push of its own for the change:

    /// The courier's wake with this number told of the change.
    case toldByCourier(UInt32)
    /// The alert of another notification told of the change, too.
    case alreadyTold(UInt32)
    case fetched(at: Instant)

    // Reasons why the relay will not tell the device of the change:

    case withdrawn(at: Instant)
    case rejected(String)
    /// Too many alerts waited, and this alert gave way to newer alerts.
    case crowdedOut
    case retired(String)

    /// The reason's name, which is a contract.
    package var code: String {
      switch self {
      case .noEffect: "no_effect"
      case .otherUser: "other_user"
      case .zoneNotVisible: "zone_not_visible"
      case .onItsWay: "on_its_way"
      case .unregistered: "unregistered"
      case .noSubscription: "no_subscription"
      case .filterNotMet: "filter_not_met"
      case .ownChange: "own_change"
      case .gathering: "gathering"
      case .notFolded: "not_folded"
      case .budget: "budget"
      case .paced: "paced"
      case .resting: "resting"
      case .quarantined: "quarantined"
      case .routeStopped: "route_stopped"
      case .noProvider: "no_provider"
      case .queued: "queued"
      case .underWay: "under_way"
      case .betweenPolls: "between_polls"
      case .notConnected: "not_connected"
      case .stopping: "stopping"
      case .toldByCourier: "told_by_courier"
      case .alreadyTold: "already_told"
      case .fetched: "fetched"
      case .withdrawn: "withdrawn"
      case .rejected: "rejected"
      case .crowdedOut: "crowded_out"
      case .retired: "retired"
      }
    }

    /// All codes, in the order of the list.
    package static let codes: [String] = [
      "no_effect", "other_user", "zone_not_visible", "on_its_way", "unregistered",
      "no_subscription", "filter_not_met", "own_change", "gathering", "not_folded", "budget",
      "paced", "resting", "quarantined", "route_stopped", "no_provider", "queued", "under_way",
      "between_polls", "not_connected", "stopping", "told_by_courier", "already_told", "fetched",
      "withdrawn", "rejected", "crowded_out", "retired",
    ]
  }
}
