import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTP1
import RelayCore
@testable import RelayHTTP

/// One connection to a listener, set up as in the daemon, on one thread. An input is what the
/// client sends. A byte 1, which HTTP does not use, and the byte after it name another event.
struct FuzzedConnection {
  /// The events besides bytes from the client.
  private enum Event: UInt8 {
    /// The bytes sent so far arrive, and all tasks that can run are run.
    case arrival
    /// The bytes arrive, and no task runs yet.
    case arrivalOnly
    /// The client sends no more.
    case end
    /// Nothing happens for as long as a connection may be idle.
    case silence
    case stopsReading
    case readsOn
    /// The daemon stops.
    case drain
    /// The courier is told a new wake for `FuzzRelay.device`.
    case wake
    /// One second passes: the courier checks what is due.
    case second
  }

  private let thread: OneThread
  private let channel = EmbeddedChannel()
  private let wire = Wire()
  private let idle: TimeAmount
  private let courier: Courier?
  private var said: [UInt8] = []
  /// Bytes that have arrived and are not read.
  private var queue: [ByteBuffer] = []
  private var isEnded = false
  private var isInputClosed = false
  private var wakes: UInt32 = 0

  /// - Parameter courier: the courier of the API behind the responder.
  init(
    to responder: any RequestResponder, _ limits: HTTPLimits, on thread: OneThread,
    _ courier: Courier?
  ) throws {
    self.thread = thread
    self.courier = courier
    let listener = Listener(
      socket: .control("/nonexistent"), responder: responder, clock: FuzzClock(), limits: limits,
      group: channel.embeddedEventLoop, connections: Connections(limits),
      onListening: { _ in })
    try channel.pipeline.syncOperations.addHandler(wire)
    try listener.setUp(channel, nil) { asked in
      thread.begin { await listener.answer(asked) }
    }
    idle = .seconds(Int64(limits.connectionIdleSeconds))
    let address = try SocketAddress(ipAddress: "203.0.113.7", port: 40_000)
    channel.remoteAddress = address
    channel.connect(to: address, promise: nil)
    channel.read()
  }

  /// - Throws: `Defect` if a request never ends, or the answer is not HTTP.
  mutating func hear(_ input: [UInt8]) throws(FuzzedParser.Defect) {
    var rest = input[...]
    while let byte = rest.popFirst() {
      guard byte == 1, let event = rest.first.flatMap({ Event(rawValue: $0) }) else {
        said.append(byte)
        continue
      }
      rest.removeFirst()
      happen(event)
    }
    for event in [.arrival, .readsOn, .end, .arrival, .silence, .arrival] as [Event] {
      happen(event)
    }
    channel.close(promise: nil)
    runAll()
    let isHTTP = wire.said.starts(with: "HTTP/1.".utf8)
    try FuzzedParser.Defect.unless(
      wire.said.isEmpty || isHTTP, "an answer does not begin with HTTP/1.")
    try FuzzedParser.Defect.unless(
      thread.tasks == 0, "\(thread.tasks) requests wait on after their connection has closed")
    try FuzzedParser.Defect.unless(
      courier?.count ?? 0 == 0, "the courier holds a connection that has closed")
  }

  private mutating func happen(_ event: Event) {
    switch event {
    case .arrival:
      arrive()
      runAll()
    case .arrivalOnly: arrive()
    case .end:
      isEnded = true
      arrive()
    case .silence: beSilent()
    case .stopsReading: setReading(false)
    case .readsOn: setReading(true)
    case .drain: channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    case .wake:
      wakes += 1
      courier?.tell(FuzzRelay.device, wake: wakes, payload: Array("{}".utf8)) { _ in }
    case .second: courier?.turn()
    }
    read()
  }

  private mutating func arrive() {
    guard !said.isEmpty else { return }
    queue.append(ByteBuffer(bytes: said))
    said = []
    read()
  }

  /// Reads the socket only when the connection asks for bytes.
  private mutating func read() {
    while channel.isActive, wire.isReadWanted, !queue.isEmpty {
      wire.deliver(queue.removeFirst(), on: channel)
    }
    guard channel.isActive, isEnded, wire.isReadWanted, queue.isEmpty, !isInputClosed
    else { return }
    isInputClosed = true
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  private mutating func runAll() {
    repeat {
      read()
      channel.embeddedEventLoop.run()
    } while thread.run()
    read()
  }

  private func beSilent() { channel.embeddedEventLoop.advanceTime(by: idle) }

  private func setReading(_ isReading: Bool) {
    wire.setRead(isReading)
    guard channel.isActive, channel.isWritable != isReading else { return }
    channel.isWritable = isReading
    channel.pipeline.fireChannelWritabilityChanged()
  }
}
