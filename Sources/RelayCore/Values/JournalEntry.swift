/// A fact at its place in its partition's journal.
package struct JournalEntry: Hashable, Sendable {
  package var partition: PartitionID
  package var ordinal: Ordinal
  /// The relay's time when the fact was journalled. A replay steps the fact with the same time.
  package var at: Instant
  package var fact: Fact

  package init(partition: PartitionID, ordinal: Ordinal, at: Instant, fact: Fact) {
    (self.partition, self.ordinal, self.at, self.fact) = (partition, ordinal, at, fact)
  }
}
