/// What the doctor looks at together, in the order of a change's way through the relay: a later
/// group needs what the earlier ones have found good.
enum CheckGroup: String, CaseIterable, Encodable, Sendable {
  case configuration, files, clock, limits, disk, store, port, daemon, network, credentials, change
}
