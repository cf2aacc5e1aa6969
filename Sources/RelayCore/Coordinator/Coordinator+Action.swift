extension Coordinator {
  /// What the shell must do next. The shell performs the actions in the order in which it gets
  /// them.
  package enum Action: Sendable {
    /// Make these entries durable in one commit, then input `appended`. One commit is under way at
    /// a time.
    case append([JournalEntry])
    /// Bring this cut into the store, then input `folded`. One fold or trim is under way at a time.
    /// After a refusal the coordinator gives the same cut again.
    case fold(Cut)
    /// Remove entries older than these instants, at most `Coordinator.trimRows` rows, then input
    /// `trimmed`.
    case trim(tombstones: Instant, notifications: Instant, feedback: Instant)

    /// Hand a push to its sender, or to the courier, and input `verdict` exactly once.
    case push(PushAttempt)
    /// Take a push back unless it has left; input `recalled` once the push has left or can no
    /// longer leave.
    case recall(PushAttempt.ID, for: FactPlace)
    /// The device is no longer registered: end its poll or stream at the courier.
    case hangUp(DeviceKey)

    /// Answer a request.
    case answer(RequestID, Result<[Answer], Unavailable>)
    /// Free the share of the inbox's bounds that the request holds.
    case release(RequestID)
    /// Refuse new facts for this cause from now on; `nil` means that new facts are accepted.
    case admission(Unavailable?)

    /// A read of this place must wait for the next fold.
    case dirtied(ReadTarget)
    /// All places that were dirtied before this action are in a cut, except the places of the
    /// partitions `without`.
    case cut(without: Set<PartitionID>)
    /// The cut is durable: serve the readers that waited for it.
    case visible
    /// The store refuses the fold: tell this cause to the readers that wait for it.
    case unreadable(Unavailable)

    /// Items for the apps' own servers became durable in these scopes.
    case feedback(Set<Scope>)
    /// Report the event to operators.
    case event(Event)
    /// Keep these entries of what was decided. If they are lost, only explanations are incomplete.
    case trace([TraceBatch])
    /// Begin the next turn after this time, or earlier. This is the last action of every turn.
    case timer(Span)
    /// After `stop`: nothing is under way any more, or the stop's deadline has come. Bring the last
    /// cut into the store; the coordinator does nothing after this cut. `nil` means that there is
    /// no last cut, because facts wait to be stepped, or because a fold failed.
    case stopped(last: Cut?)
    /// The store failed permanently: end the process. Recovery at the next start finds out what was
    /// written.
    case failed(StoreError, Failure)
  }

  /// The operation in which the store failed.
  package enum Failure: Hashable, Sendable {
    case append
    case fold
    /// The store will never accept a fact that the relay itself made, even without record values.
    case fact
  }

  /// An event for operators. On a day without faults, hardly any event occurs.
  package enum Event: Sendable {
    /// The wall clock is in doubt from now on, or is no longer in doubt.
    case clock(RelayClock.Reading)
    /// A provider's answer that names a fault.
    case answered(PushAttempt, Verdict)
    /// A device was retired because its provider reported the address as dead.
    case retired(RouteKey, Verdict.Reason)
    /// The route's circuit opened, for this reason; `nil` means that the circuit closed.
    case circuit(RouteKey, Verdict.Reason?)
    /// So many addresses are reported dead that no more devices are retired; `nil` means that dead
    /// devices are retired again.
    case pruning(RouteKey, Pruning.Stop?)
    /// A hot change matches more devices than its smear's rate can wake within the smear's longest
    /// time.
    case hurried(Scope)
    /// The journal refused a commit; it is tried again.
    case appendRefused(StoreError)
    /// The journal refused a commit for its size; it is tried again in parts.
    case divided(StoreError)
    /// The journal will never accept this request.
    case requestRefused(StoreError)
    /// The journal will never accept a forwarded change whole; the coordinator forwards the change
    /// without its values.
    case valuesLeftOut(StoreError)
    /// The store refused a fold; it is tried again.
    case foldRefused(StoreError)
    /// The daemon stops, and waits this long for verdicts.
    case stopping(grace: Span)
  }
}
