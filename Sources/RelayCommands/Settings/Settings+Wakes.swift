import RelayCore

extension ValueParser where Value == Int? {
  /// A number of wakes a second, or `off`.
  fileprivate static var rate: ValueParser {
    let count = ValueParser<Int>(
      "is no rate", remedy: "write wakes a second, or off", show: { "\($0)" },
      parse: Quantity.count
    ).within(1...1_000_000, "number")
    return ValueParser(
      read: { text throws(ValueError) in text == "off" ? nil : try count.read(text) },
      show: { $0.map(count.show) ?? "off" })
  }
}

extension Settings {
  /// Reads `coalescing`, `budget`, `smearing` and `wake`.
  mutating func readWakes(_ root: Section) {
    let gathering = root.section("coalescing")
    let window = ValueParser.span(.zero...(.minutes(10)))
    gathering.read("window", window, into: &wake.window)
    gathering.read("windowMax", window, into: &wake.windowMax)
    gathering.check(
      "windowMax", wake.windowMax, isAtLeast: wake.window, of: "coalescing.window",
      else: "is shorter than the window", Quantity.text)
    let budget = root.section("budget")
    let background = budget.section("background")
    wake.background = Self.rule(background, default: wake.background)
    readMode(background)
    readReserved(background)
    wake.alert = Self.rule(budget.section("alert"), default: wake.alert)
    readSmearing(root.section("smearing"))
    readAttempts(root.section("wake"))
  }

  /// `adapt: true` is a short form of `mode: adaptive`.
  private mutating func readMode(_ background: Section) {
    var mode: BudgetMode?
    if background.isGiven("mode") { mode = background.value("mode", .choice, default: wake.mode) }
    let isShort = background.isGiven("adapt")
    let adapts = background.value("adapt", .flag, default: mode == .adaptive)
    wake.mode = mode ?? background.value("mode", .choice, default: adapts ? .adaptive : .fixed)
    if isShort, adapts != wake.adapts {
      return background.report(
        "adapt", "\(adapts) contradicts mode: \(wake.mode.rawValue)",
        remedy: "leave one of the two keys out; adapt: true means mode: adaptive")
    }
    if wake.adapts { checkAdapting(background, isShort ? "adapt" : "mode") }
  }

  /// Reads the reserved share of the budget, which must leave at least one wake for subscriptions
  /// that are not urgent.
  private mutating func readReserved(_ background: Section) {
    background.read("reserved", .count(0...999_999), into: &wake.reserved)
    guard wake.reserved > 0 else { return }
    if wake.mode == .off {
      return background.report(
        "reserved", "there is no budget to reserve a share of",
        remedy: "write mode: fixed or adaptive, or leave reserved out")
    }
    if wake.reserved >= wake.background.max {
      background.report(
        "reserved",
        "\(wake.reserved) of \(wake.background.max) leaves nothing for subscriptions that are not"
          + " urgent", remedy: "make it less than budget.background.max")
    }
  }

  /// Reports a budget from which the adaptive budget cannot start: the learnt budget is a number of
  /// wakes in an hour, and starts from the configured number.
  private func checkAdapting(_ background: Section, _ key: String) {
    let bounds = LearntBudget.bounds
    guard wake.background.per == .hours(1), bounds.contains(wake.background.max) else {
      return background.report(
        key,
        "learns between \(bounds.lowerBound) and \(bounds.upperBound) wakes an hour, and "
          + "\(wake.background.max) in \(Quantity.text(wake.background.per)) is not among them",
        remedy: "write per: 1h and max: \(bounds.lowerBound) to \(bounds.upperBound), or fixed")
    }
  }

  private static func rule(_ section: Section, default standard: Budget.Rule) -> Budget.Rule {
    Budget.Rule(
      max: section.value("max", .count(1...1_000_000), default: standard.max),
      per: section.value("per", .span(.seconds(1)...(.days(30))), default: standard.per))
  }

  private mutating func readSmearing(_ section: Section) {
    section.read("rate", .rate, into: &wake.smearing.rate)
    section.read("above", .count(1...1_000_000), into: &wake.smearing.above)
    section.read("longest", .span(.seconds(1)...(.hours(24))), into: &wake.smearing.longest)
    section.check(
      "longest", wake.smearing.longest, isAtLeast: wake.windowMax, of: "coalescing.windowMax",
      else: "is shorter than changes gather anyway", Quantity.text)
  }

  private mutating func readAttempts(_ section: Section) {
    let pause = ValueParser.span(Span(milliseconds: 10)...(.hours(24)))
    section.read("deadline", .span(.seconds(1)...(.days(30))), into: &wake.deadline)
    attemptTimeout = section.value(
      "attemptTimeout", .span(Span(milliseconds: 100)...(.minutes(5))),
      default: min(attemptTimeout, wake.deadline))
    section.read("retryFirst", pause, into: &wake.retryFirst)
    section.read("retryMax", pause, into: &wake.retryMax)
    section.read("probe", pause, into: &wake.probe)
    section.read(
      "quarantine", .span(.seconds(1)...wake.pruning.quarantineMax), into: &wake.pruning.quarantine)
    section.read("courierGrace", .span(.zero...(.minutes(10))), into: &wake.courierGrace)
    readLadder(section)
    section.read("silentAfter", .span(.seconds(1)...(.days(365))), into: &wake.silentAfter)
    section.check(
      "retryMax", wake.retryMax, isAtLeast: wake.retryFirst, of: "wake.retryFirst",
      else: "is shorter than the first retry", Quantity.text)
    section.check(
      "deadline", wake.deadline, isAtLeast: attemptTimeout, of: "wake.attemptTimeout",
      else: "is shorter than one attempt may take", Quantity.text)
  }

  private mutating func readLadder(_ section: Section) {
    let gap = ValueParser.span(Span(milliseconds: 100)...(.days(30)))
    let problemsBefore = section.diagnostics.problems.count
    guard let gaps = section.list("rewake", gap) else {
      let shown = wake.rewake.map(Quantity.text).joined(separator: ", ")
      section.diagnostics.note(section.key("rewake"), "[\(shown)]", .standard)
      return
    }
    guard section.diagnostics.problems.count == problemsBefore else { return }
    guard (1...16).contains(gaps.count), gaps == gaps.sorted() else {
      section.report(
        "rewake", "is not a list of 1 to 16 growing gaps",
        remedy: "write gaps that do not shrink, such as [5m, 30m, 2h]; the last one repeats")
      return
    }
    wake.rewake = gaps
  }
}
