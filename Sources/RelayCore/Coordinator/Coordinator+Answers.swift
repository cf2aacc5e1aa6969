/// Answers to callers, among them the refusals after the store has refused a commit.
extension Coordinator {
  mutating func settle(
    _ answer: Answer, _ moment: Answer.Moment, _ partition: PartitionID, _ ordinal: Ordinal,
    _ origin: GroupCommit.Origin
  ) {
    guard case .request(let ticket) = origin else { return }
    counters.count(answer)
    reach(moment == .stepped ? .answeredWhenStepped : .answerWaited)
    if moment == .stepped {
      self.answer(PendingAnswers.Due(ticket: ticket, answer: answer))
    } else {
      answers.wait(ticket, answer, moment, partition, ordinal)
    }
  }

  mutating func answer(_ due: PendingAnswers.Due) { requests.answer(due, into: &actions) }

  mutating func appendFailed(_ error: StoreError, at now: Instant) {
    if error.isPassing {
      reach(.commitRefused)
      actions.append(.event(.appendRefused(error)))
      counters.refused(error, at: now)
      end(commit.refused(retryAt: now + FoldSchedule.retry), because: error)
    } else if error.code == .tooLarge {
      end(commit.refusedForSize(), because: error)
    } else {
      actions.append(.failed(error, .append))
    }
  }

  private mutating func end(_ refused: GroupCommit.Refused, because error: StoreError) {
    switch refused {
    case .requests(let tickets):
      for ticket in tickets { refuse(ticket, error.refusal) }
    case .divided:
      reach(.commitDivided)
      actions.append(.event(.divided(error)))
    case .request(let ticket):
      reach(.requestRefused)
      actions.append(.event(.requestRefused(error)))
      refuse(ticket, .requestTooLarge)
    case .own(let fact):
      // An accepted change is not dropped: it is forwarded with its names and without its values.
      guard let smaller = fact.withoutValues else {
        return actions.append(.failed(error, .fact))
      }
      reach(.valuesLeftOut)
      actions.append(.event(.valuesLeftOut(error)))
      commit.putBack(smaller)
    }
  }

  private mutating func refuse(_ ticket: RequestTicket, _ cause: Unavailable) {
    requests.refuse(ticket.request, cause, into: &actions)
  }
}

extension StoreError {
  /// The cause with which callers and readers are refused after the store has refused a write.
  var refusal: Unavailable { code == .full ? .storeFull : .storeUnwritable }
}
