/// Something that is read and may have changes that no fold has brought there yet.
package enum ReadPlace: Hashable, Sendable {
  case feed(FeedKey)
  case subscriptions(Scope, UserID)
  case devices(Scope, UserID)
}
