extension Coordinator {
  /// What the shell does next, in this order.
  package enum Action: Sendable {
    /// Make these durable in one commit; say `appended`. One is under way at a time.
    case append([JournalEntry])
    /// Bring this cut into the store; say `folded`. One fold or trim is under way at a time. After
    /// a refusal the same cut comes again.
    case fold(Cut)
    /// Remove what is older than these instants, `Coordinator.trimRows` rows at most; say
    /// `trimmed`.
    case trim(tombstones: Instant, notifications: Instant, feedback: Instant)

    /// Hand a push to its sender, or to the courier; say `verdict` exactly once.
    case push(PushAttempt)
    /// Take a push back unless it has left; say `recalled` once it cannot leave any more.
    case recall(PushAttempt.ID, for: FactPlace)
    /// This device is no more: its poll or stream at the courier ends.
    case hangUp(DeviceKey)

    /// Answer a request.
    case answer(RequestID, Result<[Answer], Unavailable>)
    /// What the request holds of the inbox's bounds is free.
    case release(RequestID)
    /// Refuse new facts for this cause from now on; nil: take them.
    case admission(Unavailable.Cause?)

    /// A read of this place waits for the next fold.
    case dirtied(ReadTarget)
    /// What was dirtied before is in a cut, but for these partitions.
    case cut(without: Set<PartitionID>)
    /// The cut is durable: those who waited for it read.
    case visible
    /// The store refuses the fold: those who wait for it are told.
    case unreadable(Unavailable.Cause)

    /// Items for the apps' own servers became durable in these scopes.
    case feedback(Set<Scope>)
    /// Tell operators.
    case event(Event)
    /// Come back with a turn in so much time, or earlier. One a turn, after all others.
    case timer(Span)
    /// After `stop`: nothing is under way any more, or its deadline has come.
    case stopped
    /// The store failed for good: end, and let recovery decide.
    case failed(StoreError, Failure)
  }

  /// What the store failed to do.
  package enum Failure: Hashable, Sendable {
    case append
    case fold
    /// It takes a fact of the relay's own neither whole nor without values.
    case fact
  }

  /// What an operator cares about: a healthy day has none.
  package enum Event: Sendable {
    /// The wall clock was found far off, or the end of that.
    case clock(RelayClock.Reading)
    /// A provider's answer that names a fault.
    case answered(PushAttempt, Verdict)
    /// An address was given up by its provider's word.
    case retired(RouteKey, Verdict.Reason)
    /// A route is stopped, for this reason; nil: it goes on.
    case circuit(RouteKey, Verdict.Reason?)
    /// So many addresses are called dead that none is given up any more; nil: they are again.
    case pruning(RouteKey, Pruning.Stop?)
    /// A hot change wakes more devices than its rate allows in the longest time.
    case hurried(Scope)
    /// The journal refused a commit for now.
    case appendRefused(StoreError)
    /// The journal refused a commit for its size: it is tried again in parts.
    case divided(StoreError)
    /// The journal will never take this request.
    case requestRefused(StoreError)
    /// The journal will never take a forwarded change whole: it goes without its values.
    case valuesLeftOut(StoreError)
    /// The store refused a fold for now.
    case foldRefused(StoreError)
    /// The daemon stops, and waits for verdicts for so long.
    case stopping(grace: Span)
  }
}
