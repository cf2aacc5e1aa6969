/// The groups of what the doctor looks at, in the order of a change's way through the relay: a
/// later group depends on what the earlier groups look at.
enum CheckGroup: String, CaseIterable, Encodable, Sendable {
  case configuration, files, clock, limits, disk, store, port, daemon, network, credentials, change
}
