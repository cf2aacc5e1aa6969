import RelayCore
import RelayEngine
import RelayMemory

extension MemoryWorld {
  func check(_ partitions: Set<PartitionID>, _ leases: [Lease]) throws(StoreError) {
    for partition in partitions.sorted() {
      let epoch = leases.first { $0.partition == partition }?.epoch
      guard epoch == self.partitions[Int(partition.number)].epoch else {
        throw StoreError(.stale, "the lease of partition \(partition.number) is over")
      }
    }
  }

  mutating func lease(_ partition: PartitionID, era: UInt64) -> Lease {
    let index = Int(partition.number)
    partitions[index].epoch += 1
    return Lease(
      partition: partition, epoch: partitions[index].epoch, era: claim(partition, era: era))
  }
}
