/// What an entry is about. In the bytes of an entry, the raw value follows the entry's time.
enum EntryKind: UInt8 {
  case began = 1
  case lost = 2
  case change = 3
  case moved = 4
  case matched = 5
  case device = 6
  case user = 7
  case route = 8
}
