/// Room that changes need on their way to other users: messages, their bytes, and fan-outs in
/// partitions where the changes concern more users than one step reaches.
package struct ForwardNeed: Hashable, Sendable {
  package var messages = 0
  package var bytes = 0
  package var fanOuts: [PartitionID: Int] = [:]

  package init() {}

  package static let none = ForwardNeed()

  package static func += (left: inout ForwardNeed, right: ForwardNeed) {
    left.messages += right.messages
    left.bytes += right.bytes
    for (target, count) in right.fanOuts { left.fanOuts[target, default: 0] += count }
  }

  package static func -= (left: inout ForwardNeed, right: ForwardNeed) {
    left.messages -= right.messages
    left.bytes -= right.bytes
    for (target, count) in right.fanOuts {
      let rest = left.fanOuts[target, default: 0] - count
      left.fanOuts[target] = rest > 0 ? rest : nil
    }
  }
}
