@testable import RelayCore
import Testing

/// A device's slot is used again after the device was removed, and a user's number after `release`
/// has freed the number. Two devices never have one slot at the same time.
@Suite struct DevicesTests {
  private func slot(_ client: UInt64, of user: Int) -> Devices.Slot {
    Devices.Slot(
      user: user, client: Sample.client(client), address: Sample.address(1),
      registeredAt: .zero, registration: .zero, lane: Lane())
  }

  @Test func `a freed slot is used again, and devices are ordered by client`() {
    var devices = Devices()
    let third = devices.insert(slot(3, of: 1))
    let first = devices.insert(slot(1, of: 1))
    #expect(devices.all(of: 1) == [first, third])
    devices.remove(third)
    #expect(!devices.contains(third) && devices.find(Sample.client(3), of: 1) == nil)
    let second = devices.insert(slot(2, of: 0))
    #expect(second == third)
    #expect(devices.all(of: 0) == [second] && devices.all(of: 1) == [first])
    #expect(devices.indices == [second, first].sorted())
    #expect(devices.all(of: 99).isEmpty)
  }

  @Test func `a released user number is used again`() {
    var users = Users()
    let first = users.intern(UserID("_a"), in: Sample.scope)
    #expect(users.intern(UserID("_a"), in: Sample.scope) == first)
    let production = Scope(container: Sample.scope.container, environment: .production)
    let other = users.intern(UserID("_a"), in: production)
    #expect(other != first && users[other].scope == production)
    users.release(first)
    #expect(users.find(UserID("_a"), in: Sample.scope) == nil)
    #expect(users.intern(UserID("_b"), in: Sample.scope) == first)
    users.release(first)
    users.release(first)
    #expect(users.intern(UserID("_c"), in: Sample.scope) == first)
    #expect(users.intern(UserID("_d"), in: Sample.scope) != first)
  }

  @Test func `devices match a dictionary after random inserts and removals`() {
    var draw = SeededRandom(seed: 5)
    var devices = Devices()
    var model: [Int: Set<UInt64>] = [:]
    for _ in 0..<3_000 {
      let (user, client) = (draw.below(5), UInt64(draw.below(6)))
      if model[user]?.contains(client) == true {
        guard let index = devices.find(Sample.client(client), of: user) else {
          Issue.record("a device is not found")
          return
        }
        devices.remove(index)
        model[user]?.remove(client)
      } else {
        _ = devices.insert(slot(client, of: user))
        model[user, default: []].insert(client)
      }
      let clients = devices.all(of: user).map { devices[$0].client }
      #expect(clients == (model[user] ?? []).sorted().map { Sample.client($0) })
    }
    #expect(devices.indices.count == model.values.reduce(0) { $0 + $1.count })
  }
}
