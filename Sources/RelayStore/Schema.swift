import RelayCore

/// All versions of the files' schema. A version that was released is never edited; a change is a
/// further migration.
enum Schema {
  static let journal = [
    """
    CREATE TABLE journal (
      seq INTEGER PRIMARY KEY,
      -- Bit n: an entry of partition n is in here.
      partitions INTEGER NOT NULL,
      entries BLOB NOT NULL
    ) STRICT;
    CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      -- The store's id: relay.db carries the same.
      store BLOB NOT NULL,
      -- Rows up to this one were deleted.
      deleted INTEGER NOT NULL,
      -- How far each partition was folded by then, eight bytes a partition: relay.db must not be
      -- older.
      folded BLOB NOT NULL
    ) STRICT;
    INSERT INTO meta VALUES (1, randomblob(16), 0, zeroblob(\(PartitionID.count * 8)));
    """
  ]

  static let relay = [places + feeds + tables + feedback + messages]

  private static let places = """
    CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      -- The store's id, that of journal.db.
      store BLOB NOT NULL,
      -- The last row of the journal when this file was last written: journal.db must not be older.
      journalled INTEGER NOT NULL,
      -- Which identity keys it has had, 16 bytes a key that tell nothing of it.
      identities BLOB NOT NULL,
      -- How many partitions it has: each user is in the one that a hash of the name chooses.
      partitions INTEGER NOT NULL
    ) STRICT;
    INSERT INTO meta VALUES (1, x'', 0, x'', \(PartitionID.count));
    CREATE TABLE partitions (
      id INTEGER PRIMARY KEY,
      epoch INTEGER NOT NULL,
      cursor INTEGER NOT NULL,
      -- Ids remembered up to here are forgotten.
      forgotten INTEGER NOT NULL,
      -- 1: a token proved that this store was restored from a copy.
      restored INTEGER NOT NULL,
      -- Where all tokens were last expired by force: no restore before it is proven any more.
      expired INTEGER NOT NULL,
      -- The epoch that ended with its last cut: a clean stop. 0: none has.
      stopped INTEGER NOT NULL,
      -- The relay's time at the partition's last fold, in milliseconds since 1970.
      time INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE eras (
      partition INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      era INTEGER NOT NULL,
      first INTEGER NOT NULL,
      PRIMARY KEY (partition, epoch)
    ) STRICT, WITHOUT ROWID;

    """

  private static let feeds = """
    CREATE TABLE feeds (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      partition INTEGER NOT NULL,
      -- For expiries: whose feed, of which scope.
      container BLOB NOT NULL,
      environment INTEGER NOT NULL,
      owner BLOB NOT NULL,
      head INTEGER NOT NULL,
      floor INTEGER NOT NULL,
      cleared INTEGER NOT NULL,
      -- 1: pages say that changes are missing.
      gap INTEGER NOT NULL,
      count INTEGER NOT NULL,
      -- Of a zone's or database's entries those that are visible and not gone.
      present INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX feeds_by_partition ON feeds (partition);
    -- Few are so long: those near their limit are found at the start without a look at all feeds.
    CREATE INDEX feeds_by_present ON feeds (present) WHERE present > 1000;
    -- Forced expiries, for feeds that have no row yet. An empty name or number 0: all.
    CREATE TABLE expiries (
      partition INTEGER NOT NULL,
      container BLOB NOT NULL,
      environment INTEGER NOT NULL,
      owner BLOB NOT NULL,
      floor INTEGER NOT NULL,
      PRIMARY KEY (partition, container, environment, owner)
    ) STRICT, WITHOUT ROWID;
    -- Feeds with rows at or below `cleared`, until a trim has deleted them.
    CREATE TABLE clearing (feed INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE entries (
      feed INTEGER NOT NULL,
      subject BLOB NOT NULL,
      position INTEGER NOT NULL,
      state INTEGER NOT NULL,
      -- 0 present, 1 gone: a scan reads the one kind without wading through the other.
      gone INTEGER NOT NULL,
      born INTEGER NOT NULL,
      died INTEGER NOT NULL,
      reborn INTEGER NOT NULL,
      device BLOB,
      stranger INTEGER NOT NULL,
      sequence INTEGER,
      time INTEGER NOT NULL,
      detail BLOB NOT NULL,
      -- The relay's time at the fold. Retention counts from it: `time` is the producer's clock.
      kept INTEGER NOT NULL,
      -- What retention applies: 1 tombstone, 2 notification, null none.
      aging INTEGER,
      -- Of an unread notification, 64 bits of its id: a read mark finds it. Null otherwise.
      notice INTEGER,
      PRIMARY KEY (feed, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entries_by_position ON entries (feed, gone, position);
    CREATE INDEX entries_by_age ON entries (aging, kept) WHERE aging IS NOT NULL;
    CREATE INDEX entries_by_notice ON entries (feed, notice) WHERE notice IS NOT NULL;

    """

  private static let tables = """
    CREATE TABLE subscriptions (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      partition INTEGER NOT NULL,
      serial INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX subscriptions_by_partition ON subscriptions (partition, serial);
    CREATE TABLE devices (
      id INTEGER PRIMARY KEY,
      key BLOB NOT NULL UNIQUE,
      partition INTEGER NOT NULL,
      client BLOB NOT NULL,
      address BLOB NOT NULL,
      -- 1: this row holds its address, and no other does.
      holds INTEGER NOT NULL,
      registered INTEGER NOT NULL,
      registration INTEGER NOT NULL,
      body BLOB NOT NULL,
      lane BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX devices_by_address ON devices (address) WHERE holds = 1;
    CREATE INDEX devices_by_partition ON devices (partition);
    CREATE INDEX devices_by_client ON devices (client);
    CREATE TABLE grants (
      key BLOB PRIMARY KEY,
      partition INTEGER NOT NULL,
      floor INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX grants_by_partition ON grants (partition);
    -- Where a grant of a zone was ended last.
    CREATE TABLE revocations (
      key BLOB PRIMARY KEY,
      partition INTEGER NOT NULL,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX revocations_by_partition ON revocations (partition);
    CREATE TABLE members (
      key BLOB PRIMARY KEY,
      partition INTEGER NOT NULL,
      serial INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX members_by_partition ON members (partition, serial);
    CREATE TABLE badges (
      key BLOB PRIMARY KEY,
      partition INTEGER NOT NULL,
      count INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX badges_by_partition ON badges (partition);

    """

  private static let feedback = """
    -- What the apps' own servers are told of devices. No position is ever given twice.
    CREATE TABLE feedback (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      id BLOB NOT NULL UNIQUE,
      scope BLOB NOT NULL,
      -- The relay's time at the fold: retention counts from it.
      kept INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX feedback_by_scope ON feedback (scope, position);
    -- How many items a scope has, up to where they were trimmed, and up to where its webhook's
    -- server has taken them.
    CREATE TABLE feedback_scopes (
      scope BLOB PRIMARY KEY,
      count INTEGER NOT NULL,
      floor INTEGER NOT NULL,
      taken INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    """

  private static let messages = """
    -- One row a fold and partition: the hashed ids of its changes, in the order of the journal.
    CREATE TABLE remembered (
      partition INTEGER NOT NULL,
      last INTEGER NOT NULL,
      items BLOB NOT NULL,
      UNIQUE (partition, last)
    ) STRICT;
    -- A message to other partitions; `targets` has a bit for each. The first one's serial is
    -- `serial`, and those of the others follow it.
    CREATE TABLE outbox (
      source INTEGER NOT NULL,
      serial INTEGER NOT NULL,
      targets INTEGER NOT NULL,
      message BLOB NOT NULL,
      UNIQUE (source, serial, targets)
    ) STRICT;
    -- Where some targets have it: those that wait. The message may be large, and stays as it is.
    CREATE TABLE outbox_waiting (
      source INTEGER NOT NULL,
      serial INTEGER NOT NULL,
      targets INTEGER NOT NULL,
      waiting INTEGER NOT NULL,
      PRIMARY KEY (source, serial, targets)
    ) STRICT, WITHOUT ROWID;
    -- The last message heard of a source on each of its tracks, which the serial says.
    CREATE TABLE heard (
      partition INTEGER NOT NULL,
      source INTEGER NOT NULL,
      track INTEGER NOT NULL,
      serial INTEGER NOT NULL,
      PRIMARY KEY (partition, source, track)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE fan_outs (
      partition INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      body BLOB NOT NULL,
      UNIQUE (partition, origin)
    ) STRICT;
    -- How far those have come that have gone on: their bodies are large, and stay as they are.
    CREATE TABLE fan_out_moves (
      partition INTEGER NOT NULL,
      origin INTEGER NOT NULL,
      cursor INTEGER NOT NULL,
      turn INTEGER,
      PRIMARY KEY (partition, origin)
    ) STRICT, WITHOUT ROWID;
    -- What producers' numbers tell of a zone.
    CREATE TABLE numbers (
      key BLOB PRIMARY KEY,
      partition INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX numbers_by_partition ON numbers (partition);
    -- Which fields subscriptions in another partition (source) read of records of one type.
    CREATE TABLE interests (
      partition INTEGER NOT NULL,
      scope BLOB NOT NULL,
      database INTEGER NOT NULL,
      type BLOB NOT NULL,
      source INTEGER NOT NULL,
      fields BLOB NOT NULL,
      PRIMARY KEY (partition, scope, database, type, source)
    ) STRICT, WITHOUT ROWID;
    """
}
