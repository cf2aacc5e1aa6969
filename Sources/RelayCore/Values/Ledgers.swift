/// A partition's accounts of deliveries. The doctor's devices have an account of their own: a
/// delivery to such a device takes the same way as any other delivery, and changes no number of the
/// apps' account.
package struct Ledgers: Sendable {
  /// Whose devices an account is about.
  package enum Account: Sendable {
    /// The devices of the apps' users; `status` shows this account.
    case apps
    /// The devices of `zonerelay doctor`; this account is never shown.
    case doctor

    package init(of user: UserID) { self = user == .doctor ? .doctor : .apps }
  }

  package private(set) var apps = Ledger()
  private var doctor = Ledger()

  package init() {}

  package subscript(account: Account) -> Ledger {
    get { account == .apps ? apps : doctor }
    _modify {
      if account == .apps { yield &apps } else { yield &doctor }
    }
  }
}
