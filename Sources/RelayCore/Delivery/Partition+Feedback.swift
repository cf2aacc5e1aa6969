/// The reports about devices to the apps' own servers.
extension Partition {
  /// Reports news of a device, unless it is a device of the doctor: no app's server knows the
  /// doctor's devices.
  mutating func tell(_ news: Feedback.News, of device: Int, at now: Instant) {
    let slot = devices[device]
    guard slot.account == .apps else { return }
    devices.tell(
      Feedback(
        device: key(of: device), address: slot.address, registeredAt: slot.registeredAt,
        registration: slot.registration, at: now, news: news))
  }

  /// A provider or the courier took the device's wake.
  mutating func delivered(_ device: Int, at now: Instant) {
    let account = devices.account(of: device)
    let silence = devices[device].lane.delivered(at: now, policy: policy, ledger: &ledgers[account])
    guard let silence else { return }
    tell(.silent(since: silence.since, wakes: silence.wakes), of: device, at: now)
  }

  /// The device fetched, acknowledged or connected. If the device was reported as silent, the app's
  /// servers are told that it has returned.
  mutating func heardOf(_ device: Int, at now: Instant) {
    if devices[device].lane.gaveSign() { tell(.returned, of: device, at: now) }
  }
}
