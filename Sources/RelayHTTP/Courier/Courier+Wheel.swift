import Synchronization

extension Courier {
  /// Advances the timer wheel by one second, and does what is due for the connections of that
  /// second.
  func turn() {
    enum Due {
      case finish(UInt64)
      case beat(CourierConnection)
      /// The device has not read its wake in time.
      case giveUp(UInt64, CourierConnection)
    }
    let due: [Due] = state.withLock { state in
      state.tick += 1
      let slot = state.tick % Self.slots
      let serials = state.wheel[slot].sorted()
      state.wheel[slot] = []
      var due: [Due] = []
      for serial in serials {
        guard let connection = state.connections[serial] else { continue }
        if connection.message != nil {
          due.append(.giveUp(serial, connection))
        } else if !connection.isStream || connection.expires <= state.tick {
          due.append(.finish(serial))
        } else {
          state.due(serial, in: limits.courierHoldSeconds - 1)
          due.append(.beat(connection))
        }
      }
      return due
    }
    for due in due {
      switch due {
      case .finish(let serial): finish(serial)
      case .beat(let connection): connection.beat()
      case .giveUp(let serial, let connection):
        broke(serial)
        connection.reader.cut()
      }
    }
  }

  /// The number that the timer wheel's `tick` will have `seconds` from now.
  func tick(in seconds: Int64) -> Int { state.withLock { $0.tick + Int(seconds) } }
}

extension Courier.State {
  /// Schedules the next check of a connection, at most `seconds` from now.
  mutating func due(_ serial: UInt64, in seconds: Int) {
    if let slot = connections[serial]?.slot { wheel[slot].remove(serial) }
    let slot = (tick + max(1, min(seconds, Courier.slots - 1))) % Courier.slots
    connections[serial]?.slot = slot
    wheel[slot].insert(serial)
  }

  mutating func remove(_ serial: UInt64) -> CourierConnection? {
    guard let connection = connections.removeValue(forKey: serial) else { return nil }
    if let slot = connection.slot { wheel[slot].remove(serial) }
    if current[connection.device] == serial { current[connection.device] = nil }
    return connection
  }
}
