import Testing

@testable import RelayCore

@Suite struct WakeSchedulerTests {
  private var scheduler = WakeScheduler()
  private let apns = RouteKey(scope: Sample.scope, transport: .apns, topic: "com.example.notes")
  private let fcm = RouteKey(scope: Sample.scope, transport: .fcm, topic: "notes")

  @Test func `a lane with several inputs is evaluated once`() {
    var scheduler = scheduler
    for device in [4, 2, 4] { scheduler.markDirty(device) }
    #expect(scheduler.takeDue(at: .s(0)) == [4, 2])
    #expect(scheduler.takeDue(at: .s(0)).isEmpty)
  }

  @Test func `a lane's earliest timer fires, and a later timer is not added`() {
    var scheduler = scheduler
    scheduler.arm(1, at: .s(5))
    scheduler.arm(1, at: .s(9))
    #expect(scheduler.timersWaiting == 1)
    #expect(scheduler.nextTimer == .s(5))
    #expect(scheduler.takeDue(at: .s(4)).isEmpty)
    #expect(scheduler.takeDue(at: .s(5)) == [1])
    #expect(scheduler.nextTimer == nil)
    // After the timer has fired, the lane may have a later one.
    scheduler.arm(1, at: .s(9))
    #expect(scheduler.takeDue(at: .s(9)) == [1])
  }

  @Test func `an earlier timer replaces a later timer`() {
    var scheduler = scheduler
    scheduler.arm(1, at: .s(9))
    scheduler.arm(1, at: .s(5))
    #expect(scheduler.takeDue(at: .s(5)) == [1])
    #expect(scheduler.takeDue(at: .s(9)).isEmpty)
  }

  @Test func `a reused device slot inherits no timer and no place in a line`() {
    var scheduler = scheduler
    scheduler.arm(3, at: .s(5))
    let taken = [
      scheduler.lineUp(3, at: apns),
      scheduler.lineUpAtCourier(3),
    ]
    #expect(taken == [true, true])
    scheduler.removed(3)
    #expect(scheduler.takeDue(at: .s(5)).isEmpty)
    let then = [
      scheduler.lineUp(3, at: apns),
      scheduler.lineUpAtCourier(3),
    ]
    #expect(then == [true, true])
  }

  @Test func `a lane has one place in a route's line and one at the courier`() {
    var scheduler = scheduler
    let courier = RouteKey(scope: Sample.scope, transport: .courier, topic: "")
    let taken = [
      scheduler.lineUp(0, at: apns),
      scheduler.lineUp(0, at: apns),
      scheduler.lineUpAtCourier(0),
      scheduler.lineUpAtCourier(0),
    ]
    #expect(taken == [true, false, true, false])
    // The device has moved to another route. When the lane's turn comes in the old route's queue,
    // the lane leaves that queue.
    var moved = [scheduler.lineUp(0, at: fcm)]
    scheduler.leaveLine(0, at: apns)
    moved.append(scheduler.lineUp(0, at: fcm))
    scheduler.leaveLine(0, at: fcm)
    scheduler.leaveLine(0, at: courier)
    moved += [scheduler.lineUp(0, at: fcm), scheduler.lineUpAtCourier(0)]
    #expect(moved == [true, false, true, true])
  }

  @Test func `a lane waits for a fold only once`() {
    var scheduler = scheduler
    let taken = [
      scheduler.awaitFold(7),
      scheduler.awaitFold(7),
    ]
    #expect(taken == [true, false])
    #expect(scheduler.isAwaitingFold)
    #expect(scheduler.takeAwaitingFold() == [7])
    #expect(!scheduler.isAwaitingFold)
    let then = [
      scheduler.awaitFold(7)
    ]
    #expect(then == [true])
  }

  @Test func `new rules mark all slots in parts`() {
    var (scheduler, devices) = (scheduler, Devices())
    for number in UInt64(0)..<5 {
      _ = devices.insert(
        Devices.Slot(
          user: 0, client: Sample.client(number), address: Sample.address(1), registeredAt: .s(0),
          registration: Ordinal(1), lane: Lane()))
    }
    devices.remove(1)
    scheduler.rulesChanged(slots: devices.slotCount)
    #expect(scheduler.nextTimer == .zero)
    #expect(scheduler.markOutdated(atMost: 3, in: devices) == 3)
    #expect(scheduler.outdatedSlots == 2)
    #expect(scheduler.markOutdated(atMost: 3, in: devices) == 2)
    #expect(scheduler.takeDue(at: .s(0)) == [0, 2, 3, 4])
    #expect(scheduler.nextTimer == nil)
  }
}
