import RelayCore
import RelayHTTP

extension Settings {
  static func producers(_ section: Section) -> [Producer] {
    let producers = section.sections("producers").compactMap { item -> Producer? in
      let name = item.required("name", .name(max: 64))
      let proof = proof(item)
      let capacity = item.value("fetchCapacity", .count(1...Change.fetchCapacityMax))
      guard let name, let proof else { return nil }
      return Producer(name: name, proof: proof, fetchCapacity: capacity ?? 0)
    }
    reportRepeated(producers.map(\.name), in: "producers", "name", section)
    reportRepeated(producers.compactMap(\.keyID), in: "producers", "keyID", section)
    for (index, producer) in producers.enumerated() {
      guard let key = producer.bearer,
        let twin = producers[..<index].first(where: { $0.bearer?.bytes == key.bytes })
      else { continue }
      section.report(
        "producers", "\(twin.name) and \(producer.name) have the same bearer key",
        remedy: "give each producer a key of its own")
    }
    return producers
  }

  private static func proof(_ item: Section) -> Producer.Proof? {
    item.either(
      "bearer", { bearer(item) }, or: ["keyID", "publicKey"], { signature(item) },
      missing: "add bearer: PATH, or keyID and publicKey: PATH",
      both: "keep bearer, or keyID and publicKey, not both")
  }

  private static func bearer(_ item: Section) -> Producer.Proof? {
    item.required("bearer", item.headerSecret(min: 32, "a bearer key")).map { .bearer($0) }
  }

  private static func signature(_ item: Section) -> Producer.Proof? {
    let keyID = item.required("keyID", .name(max: 128))
    let key = item.required("publicKey", item.producerKey)
    guard let keyID, let key else { return nil }
    return .signature(keyID: keyID, key.value)
  }
}

extension Settings.Producer {
  var bearer: Secret? {
    if case .bearer(let secret) = proof { secret } else { nil }
  }

  var keyID: String? {
    if case .signature(let keyID, _) = proof { keyID } else { nil }
  }
}

extension Section {
  /// A P-256 public key in PEM.
  fileprivate var producerKey: ValueParser<Shown<ProducerKey>> {
    path.then(show: \.text) { file throws(ValueError) in
      let pem = String(decoding: try FileBytes.read(file), as: UTF8.self)
      guard !pem.contains("PRIVATE KEY-----") else {
        throw ValueError(
          "\(file) holds a private key, which is the producer's alone",
          remedy: "name its public half: openssl ec -in KEY -pubout")
      }
      do {
        return Shown(value: try ProducerKey(pem: pem), text: file)
      } catch {
        throw ValueError(
          "\(file) holds no P-256 public key in PEM",
          remedy: "make one with: openssl ec -in KEY -pubout")
      }
    }
  }
}
