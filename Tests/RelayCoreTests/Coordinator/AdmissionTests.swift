import Testing

@testable import RelayCore

@Suite struct AdmissionTests {
  private typealias Room = Admission.Room

  private func admission(facts: Int = 10, bytes: Int = 100) -> Admission {
    var admission = Admission(bounds: Room(facts: facts, bytes: bytes))
    admission.begin()
    return admission
  }

  @Test func `no request enters before recovery is over`() {
    var admission = Admission(bounds: Room(facts: 10, bytes: 100))
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == .recovering)
    #expect(!admission.hasBegun && admission.taken == .none)
    admission.begin()
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == nil && admission.hasBegun)
  }

  /// Limit: limits.inboxChanges
  /// Limit: limits.inboxBytes
  @Test(arguments: [
    (Admission.Room(facts: 6, bytes: 60), true), (Admission.Room(facts: 7, bytes: 60), false),
    (Admission.Room(facts: 6, bytes: 61), false), (Admission.Room(facts: 1, bytes: .max), false),
  ])
  func `facts and bytes are bounded until their requests are answered`(
    room: Admission.Room, isTaken: Bool
  ) {
    var admission = admission()
    let first = Room(facts: 4, bytes: 40)
    #expect(admission.offer(first) == nil)
    let refusal = Unavailable.inboxFull
    #expect(admission.offer(room) == (isTaken ? nil : refusal))
    if isTaken { #expect(admission.taken == Room(facts: 10, bytes: 100)) }
    admission.release(first)
    if isTaken { admission.release(room) }
    #expect(admission.taken == .none)
  }

  @Test func `a request above the bounds enters alone`() {
    var admission = admission()
    let large = Room(facts: 50, bytes: 5_000)
    #expect(admission.offer(large) == nil)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == .inboxFull)
    admission.release(large)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == nil)
  }

  @Test func `draining is final`() {
    var admission = admission()
    admission.refuse(.storeFull)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == .storeFull)
    admission.refuse(nil)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == nil && !admission.isDraining)
    admission.drain()
    admission.refuse(nil)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == .draining && admission.isDraining)
  }

  /// Every open connection may be replaced at once. If the end of a connection were refused, the
  /// device would still count as connected.
  @Test func `opened connections and acknowledgements are bounded between two turns`() {
    let device = TraceRig.device
    var admission = Admission(bounds: Room(facts: 10, bytes: 100), connectionsMax: 1)
    func opened() -> Bool { admission.admits(.connected(device, 1, after: nil)) }
    #expect([opened(), opened(), opened()] == [true, true, false])
    let ended = Coordinator.Input.left(device, 1, isExpectedBack: false)
    #expect((1...9).allSatisfy { _ in admission.admits(ended) })
    let last = (0...Admission.acknowledgementsMax).map { _ in
      admission.admits(.acknowledged(.wake(1), device))
    }
    #expect(last.firstIndex(of: false) == Admission.acknowledgementsMax)
    admission.emptied()
    #expect(opened() && admission.admits(.acknowledged(.wake(1), device)))
  }

  /// The stop itself waits for the relay's next turn.
  @Test func `from an admitted stop on no request enters`() {
    var admission = admission()
    let isTaken = admission.admits(.stop)
    #expect(isTaken && admission.isDraining)
    #expect(admission.offer(Room(facts: 1, bytes: 1)) == .draining)
  }

  /// A stop may be ordered while the relay recovers.
  @Test func `a relay that stops before it begins admits nothing`() {
    var admission = Admission(bounds: Room(facts: 10, bytes: 100))
    let isTaken = admission.admits(.stop)
    admission.begin()
    #expect(isTaken && admission.offer(Room(facts: 1, bytes: 1)) == .draining)
  }
}
