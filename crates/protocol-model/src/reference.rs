//! The reference: how a record may change. A store does each of these in one atomic step, by its own clock.

use gate_core::vocabulary::{State, Verdict};

/// A rule. Every new ownership (T1, T4, T11, T14) has a new fence, from one sequence for all keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// – → processing: a delivery, and there is no record.
    T1,
    /// processing → same: the owner asks again.
    T2,
    /// processing → same: a delivery while the lease is live.
    T3,
    /// processing → processing: a delivery or the recovery; the lease is over, and nobody wants it held.
    T4,
    /// processing → uncertain: a delivery or the recovery; the lease is over, and it is to be held for a person.
    T5,
    /// processing, failed → dead: a delivery or the recovery; lease or backoff over, nobody wants it held, no attempts left.
    T6,
    /// processing → completed: the owner, also after the lease.
    T7,
    /// processing → failed: the owner, with attempts left.
    T8,
    /// processing → dead: the owner, for good or without attempts left.
    T9,
    /// processing → uncertain: the owner does not know how far it came.
    T10,
    /// failed → processing: a delivery or the recovery; due, with attempts left.
    T11,
    /// failed → same: a delivery before it is due.
    T12,
    /// uncertain → completed, failed, dead: a person.
    T13,
    /// completed, dead, uncertain → processing: a person.
    T14,
    /// completed, dead → –: retention.
    T15,
}

/// One stored claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Where it stands.
    pub state: State,
    /// The newest ownership.
    pub receipt: Receipt,
    /// How often it was handed out.
    pub attempt: u8,
    /// Ticks until the lease (processing) or the backoff (failed) is over; 0 in every other state.
    pub wait: u8,
    /// Somebody who claimed it wants it held for a person once its lease is over. Stays with the record.
    pub hold: bool,
}

/// What an owner shows when it writes. Both must match: a token alone may have owned the record twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receipt {
    /// Who owns it.
    pub owner: Owner,
    /// Since when: larger than that of every earlier ownership.
    pub fence: u8,
}

/// An owner token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The node run that drew it.
    pub run: u8,
    /// Which of its tokens; a run that obeys the protocol draws one, before its first try.
    pub draw: u8,
}

/// What an unfinished claim means once its lease is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unfinished {
    /// The next delivery owns it.
    TakeOver,
    /// It waits for a person.
    Hold,
    /// There is no lease: the claim is completed when it is made.
    CompleteOnClaim,
}

/// A delivery asks for its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// The token of the run.
    pub owner: Owner,
    /// Its policy.
    pub unfinished: Unfinished,
}

/// How an owner ends its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// Done.
    Completed,
    /// To be tried again.
    Failed,
    /// The owner does not know how far it came.
    Uncertain,
    /// Failed for good.
    Dead,
}

/// What an owner is told about the end of its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Settled {
    /// Done now.
    Settled,
    /// Done now, though the lease was over.
    Late,
    /// Done before, by the same owner.
    Already,
    /// Not his; nothing changed.
    FencedOut,
}

/// Durations in ticks of the store's clock.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How long an owner may be silent.
    pub lease: u8,
    /// How long a failed attempt waits for the next.
    pub backoff: u8,
    /// At this many an unfinished claim is dead instead of being handed out again.
    pub max_attempts: u8,
}

/// What a delivery is told. The grants among these are carried out by [`carry_out`], the refusals change nothing.
#[must_use]
pub fn judge(record: Option<Record>, ask: Ask, terms: Terms) -> Verdict {
    let Some(record) = record else {
        return Verdict::Claimed;
    };
    let mine = record.receipt.owner == ask.owner;
    match record.state {
        State::Processing if mine => Verdict::Reentrant,
        State::Completed if mine && ask.unfinished == Unfinished::CompleteOnClaim => Verdict::Reentrant,
        State::Completed => Verdict::Completed,
        State::Dead => Verdict::Dead,
        State::Uncertain => Verdict::Uncertain,
        State::Processing if record.wait > 0 => Verdict::InProgress,
        State::Failed if record.wait > 0 => Verdict::Backoff,
        // Before the attempts are looked at: what the interrupted one did, only a person can say.
        State::Processing if record.hold || ask.unfinished == Unfinished::Hold => Verdict::Held,
        State::Processing | State::Failed if record.attempt >= terms.max_attempts => Verdict::Exhausted,
        State::Failed => Verdict::Retried,
        State::Processing => Verdict::TakenOver,
    }
}

/// What the recovery is told: the same, for what is due only. `None` for a live lease and for all that has ended.
#[must_use]
pub fn judge_recovery(record: Option<Record>, ask: Ask, terms: Terms) -> Option<Verdict> {
    let verdict = judge(Some(record?), ask, terms);
    let due = [Verdict::TakenOver, Verdict::Retried, Verdict::Held, Verdict::Exhausted];
    due.contains(&verdict).then_some(verdict)
}

/// T1 to T6, T11, T12: the record after the verdict. `fence` is used where the verdict is a new ownership.
#[must_use]
pub fn carry_out(record: Option<Record>, ask: Ask, verdict: Verdict, fence: u8, terms: Terms) -> Option<Record> {
    match verdict {
        Verdict::Claimed | Verdict::TakenOver | Verdict::Retried => {
            let at_once = ask.unfinished == Unfinished::CompleteOnClaim;
            Some(Record {
                state: if at_once { State::Completed } else { State::Processing },
                receipt: Receipt {
                    owner: ask.owner,
                    fence,
                },
                attempt: record.map_or(0, |before| before.attempt) + 1,
                wait: if at_once { 0 } else { terms.lease },
                hold: ask.unfinished == Unfinished::Hold || record.is_some_and(|before| before.hold),
            })
        }
        Verdict::Reentrant => record.map(|before| Record {
            wait: if before.state == State::Processing {
                terms.lease
            } else {
                0
            },
            ..before
        }),
        Verdict::Held => record.map(|before| before.ended(State::Uncertain)),
        Verdict::Exhausted => record.map(|before| before.ended(State::Dead)),
        _ => record,
    }
}

/// T7 to T10.
#[must_use]
pub fn settle(record: Option<Record>, receipt: Receipt, end: End, terms: Terms) -> (Settled, Option<Record>) {
    let Some(before) = record.filter(|record| record.receipt == receipt) else {
        return (Settled::FencedOut, record);
    };
    let state = match end {
        End::Completed => State::Completed,
        End::Failed if before.attempt < terms.max_attempts => State::Failed,
        End::Failed | End::Dead => State::Dead,
        End::Uncertain => State::Uncertain,
    };
    if before.state != State::Processing {
        let same = before.state == state;
        return (if same { Settled::Already } else { Settled::FencedOut }, record);
    }
    let answer = if before.wait > 0 {
        Settled::Settled
    } else {
        Settled::Late
    };
    let wait = if state == State::Failed { terms.backoff } else { 0 };
    let after = Record {
        wait,
        ..before.ended(state)
    };
    (answer, Some(after))
}

/// The owner asks for another lease, also when this one is over and nobody took over. `None`: fenced out.
#[must_use]
pub fn extend(record: Option<Record>, receipt: Receipt, terms: Terms) -> Option<Record> {
    let mine = |record: &Record| record.receipt == receipt && record.state == State::Processing;
    record.filter(mine).map(|before| Record {
        wait: terms.lease,
        ..before
    })
}

/// T13: a person says how it ended. `None`: not uncertain, or not the ownership that the person looked at.
#[must_use]
pub fn resolve(record: Option<Record>, fence: u8, to: State, terms: Terms) -> Option<Record> {
    let before = record.filter(|record| record.state == State::Uncertain && record.receipt.fence == fence)?;
    match to {
        State::Completed | State::Dead => Some(before.ended(to)),
        State::Failed => Some(Record {
            wait: terms.backoff,
            ..before.ended(to)
        }),
        State::Processing | State::Uncertain => None,
    }
}

/// T14: a person hands it out once more. `None`: it has not ended.
#[must_use]
pub fn reopen(record: Option<Record>, receipt: Receipt, terms: Terms) -> Option<Record> {
    let before = record.filter(|record| has_ended(record.state))?;
    Some(Record {
        state: State::Processing,
        receipt,
        attempt: before.attempt + 1,
        wait: terms.lease,
        hold: before.hold,
    })
}

/// T15: whether retention may delete it.
#[must_use]
pub fn may_be_deleted(record: Record) -> bool {
    matches!(record.state, State::Completed | State::Dead)
}

/// Nothing happens to it any more without a person.
#[must_use]
pub fn has_ended(state: State) -> bool {
    matches!(state, State::Completed | State::Dead | State::Uncertain)
}

/// Verdicts that make the asker the owner.
#[must_use]
pub fn is_ours(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Claimed | Verdict::Reentrant | Verdict::Retried | Verdict::TakenOver
    )
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 15] = {
        use Rule::{T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15};
        [T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15]
    };

    /// The rule behind a verdict; `None` for what has ended and is only reported.
    #[must_use]
    pub fn of_verdict(verdict: Verdict) -> Option<Self> {
        Some(match verdict {
            Verdict::Claimed => Self::T1,
            Verdict::Reentrant => Self::T2,
            Verdict::InProgress => Self::T3,
            Verdict::TakenOver => Self::T4,
            Verdict::Held => Self::T5,
            Verdict::Exhausted => Self::T6,
            Verdict::Retried => Self::T11,
            Verdict::Backoff => Self::T12,
            _ => return None,
        })
    }

    /// The rule by which an owner has ended its claim.
    #[must_use]
    pub fn of_end(answer: Settled, state: State) -> Option<Self> {
        match (answer, state) {
            (Settled::Already | Settled::FencedOut, _) | (_, State::Processing) => None,
            (_, State::Completed) => Some(Self::T7),
            (_, State::Failed) => Some(Self::T8),
            (_, State::Dead) => Some(Self::T9),
            (_, State::Uncertain) => Some(Self::T10),
        }
    }
}

impl Record {
    fn ended(self, state: State) -> Self {
        Self { state, wait: 0, ..self }
    }
}
