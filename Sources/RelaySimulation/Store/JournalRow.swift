import RelayCore

/// A fact at its place in its partition's journal.
struct JournalRow {
  var partition: PartitionID
  var ordinal: Ordinal
  var at: Instant
  var fact: Fact
}
