import RelayCore

/// A request that its sender repeats with the same ids until it is answered.
struct Operation {
  var facts: [Fact]
  var client: Int?
  var isAnswered = false
}
