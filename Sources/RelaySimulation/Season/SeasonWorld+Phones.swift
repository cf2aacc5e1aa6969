import RelayCore

/// What a phone does next, or what happens to it.
enum PhoneTurn {
  case opens
  case closes
  case leaves
  case returns
  case sleeps
  case wakes
  case removed
  case installed
  /// A push has reached Apple, or has waited at Apple until the phone was online.
  case pushed
  /// A push waits on the phone, and the phone's allowance for background runs may suffice for it
  /// now.
  case allowed
  case fetches
}

extension SeasonWorld {
  /// Schedules the phone's first events: the first opening of the app, the first loss of the
  /// network, the first bedtime and, for some phones, the removal of the app.
  func beginLife(of index: Int) {
    let traits = phones[index].traits
    at(phones[index].habits.gap(traits.opens), .phone(index, .opens))
    at(phones[index].habits.gap(traits.absences), .phone(index, .leaves))
    at(traits.bedtime, .phone(index, .sleeps))
    if phones[index].habits.permille(plan.removals) {
      let days = Int(plan.days) - 2
      at(.hours(Int64(24 + phones[index].habits.below(days * 24))), .phone(index, .removed))
    }
  }

  func live(_ index: Int, _ turn: PhoneTurn) throws {
    let traits = phones[index].traits
    switch turn {
    case .opens:
      at(phones[index].habits.gap(traits.opens), .phone(index, .opens))
      // An owner who sleeps or has removed the app does not open it.
      guard phones[index].isInstalled, !phones[index].isAsleep, !phones[index].isOpen else {
        return
      }
      if phones[index].isHeld { figures.replaced += 1 }
      phones[index].open(at: now)
      at(.seconds(Int64(phones[index].habits.from(20...240))), .phone(index, .closes))
      at(.seconds(1), .phone(index, .fetches))
    case .closes:
      guard phones[index].isOpen else { return }
      let isSwiped = phones[index].habits.permille(traits.quits)
      phones[index].close(at: now, isSwiped: isSwiped)
    case .leaves:
      at(phones[index].habits.gap(.minutes(25)), .phone(index, .returns))
      comesOnline(index, phones[index].move(isAway: true, at: now))
    case .returns:
      at(phones[index].habits.gap(traits.absences), .phone(index, .leaves))
      comesOnline(index, phones[index].move(isAway: false, at: now))
    case .sleeps:
      at(traits.sleep, .phone(index, .wakes))
      comesOnline(index, phones[index].sleep(true, at: now))
    case .wakes:
      at(traits.day, .phone(index, .sleeps))
      comesOnline(index, phones[index].sleep(false, at: now))
    case .removed: remove(index)
    case .installed: install(index)
    case .pushed: arrive(index)
    case .allowed:
      if let arrival = phones[index].release(at: now) { handle(arrival, index) }
    case .fetches: try fetch(index)
    }
  }

  private func comesOnline(_ index: Int, _ hasStored: Bool) {
    if hasStored { at(.seconds(2), .phone(index, .pushed)) }
  }

  /// Handles a push that has reached Apple for the phone.
  func arrive(_ index: Int) {
    let waited = phones[index].isStored || phones[index].isHeld
    handle(phones[index].arrive(at: now), index)
    // The newer push replaces the push that waited, or makes it useless.
    if waited { figures.replaced += 1 }
  }

  private func handle(_ arrival: Phone.Arrival, _ index: Int) {
    switch arrival {
    case .runs(let after):
      figures.ran += 1
      if phones[index].luck.permille(plan.fetchesLost) { return }
      at(after, .phone(index, .fetches))
    case .waits(let until):
      if let until { at(until - now, .phone(index, .allowed)) }
    case .dropped: figures.dropped += 1
    }
  }

  private func remove(_ index: Int) {
    phones[index].remove(at: now)
    apple.dead[phones[index].address.token] = now
    observer.gone(index)
    guard phones[index].habits.below(2) == 0 else { return }
    at(.hours(Int64(1 + phones[index].habits.below(72))), .phone(index, .installed))
  }

  /// Installs the app again: the keychain keeps the installation id, and the token is new.
  private func install(_ index: Int) {
    phones[index].install(token: takeToken(), at: now)
    register(index)
    at(.seconds(3), .phone(index, .fetches))
  }

  /// The app fetches what it has missed.
  private func fetch(_ index: Int) throws {
    guard phones[index].canFetch else { return }
    guard let daemon else { return at(.seconds(10), .phone(index, .fetches)) }
    // Readers wait for the fold; a forwarded change needs one more fold.
    try settle()
    let user = phones[index].user
    let feed = FeedKey(scope: World.scope, kind: .notifications(user))
    for _ in 0..<100 {
      let query = PageQuery(
        feed: feed, reader: user, after: phones[index].fetchedTo, limit: 200)
      guard case .page(let page) = store.page(query) else {
        throw InvariantViolation(.catchUpIsWhole, "\(user) cannot read its notifications")
      }
      phones[index].fetchedTo = page.next
      let key = phones[index].key
      daemon.add(.acknowledged(.notifications(page.next.position), key))
      if !page.hasMore { break }
    }
    guard let place = phones[index].fetchedTo else { return }
    let reached = phones[index].reached(at: now)
    for delay in try observer.fetched(to: place.position, index, reached, at: now) {
      figures.freshness.append(Int32(delay.milliseconds / 1_000))
    }
  }
}
