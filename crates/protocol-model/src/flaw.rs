//! Mistakes that a store or a client could make: each a small change to the reference, none in it.

use gate_core::vocabulary::{State, Verdict};

use crate::reference::{self, Ask, End, Owner, Receipt, Record, Settled, Terms};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// The end of a claim is written by key alone, without looking at owner and fence.
    SettleWithoutOwner,
    /// Fences are counted in the row, so that they begin again after deletion.
    FencePerRow,
    /// Whether a lease is over is judged by the asker's clock, which may be fast.
    ClientClock,
    /// What was read decides, though the row has changed since.
    GrantFromSnapshot,
    /// A client that got no answer asks again with another token.
    NewTokenPerTry,
    /// A client that got no answer goes on as if it had the claim.
    UnknownIsClaimed,
    /// An owner that ends its claim again, since the answer was lost, is told that the claim is not its own.
    EndedIsFencedOut,
    /// A claim has no lease: it is processing until its owner ends it. What "insert the id, then work" does.
    NoLease,
    /// The recovery forgets that a claim is to be held for a person.
    RecoveryForgetsHold,
    /// Where no attempts are left, it is forgotten that a claim is to be held for a person.
    LimitBeforeHold,
    /// Attempts are counted and never looked at.
    NoLimit,
    /// A completed claim is handed out again, as if it had failed.
    CompletedIsRetried,
    /// The sweeper looks at the age only.
    SweepTakesAll,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::SettleWithoutOwner,
        Self::FencePerRow,
        Self::ClientClock,
        Self::GrantFromSnapshot,
        Self::NewTokenPerTry,
        Self::UnknownIsClaimed,
        Self::EndedIsFencedOut,
        Self::NoLease,
        Self::RecoveryForgetsHold,
        Self::LimitBeforeHold,
        Self::NoLimit,
        Self::CompletedIsRetried,
        Self::SweepTakesAll,
    ];
}

/// The rules as a store follows them: those of the reference, but for the one flaw.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Durations and limits.
    pub terms: Terms,
    /// The mistake, if any.
    pub flaw: Option<Flaw>,
}

impl Rules {
    /// True with this mistake.
    #[must_use]
    pub fn have(self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    pub(crate) fn judge(self, record: Option<Record>, ask: Ask) -> Verdict {
        let verdict = reference::judge(record.map(|record| self.seen(record)), ask, self.lenient());
        self.said(record, verdict)
    }

    pub(crate) fn judge_recovery(self, record: Option<Record>, ask: Ask) -> Option<Verdict> {
        let mut seen = self.seen(record?);
        if self.have(Flaw::RecoveryForgetsHold) {
            seen.hold = false;
        }
        let verdict = reference::judge_recovery(Some(seen), ask, self.lenient())?;
        Some(self.said(record, verdict))
    }

    pub(crate) fn settle(self, record: Option<Record>, receipt: Receipt, end: End) -> (Settled, Option<Record>) {
        let shown = match record {
            Some(record) if self.have(Flaw::SettleWithoutOwner) => record.receipt,
            _ => receipt,
        };
        match reference::settle(record, shown, end, self.terms) {
            (Settled::Already, after) if self.have(Flaw::EndedIsFencedOut) => (Settled::FencedOut, after),
            other => other,
        }
    }

    pub(crate) fn may_be_deleted(self, record: Record) -> bool {
        reference::may_be_deleted(record) || self.have(Flaw::SweepTakesAll)
    }

    /// The fence of the next ownership of this record, given the last one of all.
    pub(crate) fn next_fence(self, record: Option<Record>, last: u8) -> u8 {
        if self.have(Flaw::FencePerRow) {
            return record.map_or(0, |record| record.receipt.fence) + 1;
        }
        last + 1
    }

    /// The token of a run's second try.
    pub(crate) fn token(self, owner: Owner) -> Owner {
        let draw = u8::from(self.have(Flaw::NewTokenPerTry));
        Owner { draw, ..owner }
    }

    /// The record one tick later.
    pub(crate) fn tick(self, record: Record) -> Record {
        let stopped = self.have(Flaw::NoLease) && record.state == State::Processing;
        let passed = u8::from(!stopped);
        let wait = record.wait.saturating_sub(passed);
        Record { wait, ..record }
    }

    fn seen(self, record: Record) -> Record {
        let mut seen = record;
        if self.have(Flaw::ClientClock) {
            seen.wait = 0;
        }
        if self.have(Flaw::CompletedIsRetried) && record.state == State::Completed {
            seen.state = State::Failed;
        }
        seen
    }

    fn said(self, record: Option<Record>, verdict: Verdict) -> Verdict {
        let used_up = record.is_some_and(|record| record.attempt >= self.terms.max_attempts);
        if self.have(Flaw::LimitBeforeHold) && verdict == Verdict::Held && used_up {
            return Verdict::Exhausted;
        }
        verdict
    }

    fn lenient(self) -> Terms {
        let max_attempts = if self.have(Flaw::NoLimit) {
            u8::MAX
        } else {
            self.terms.max_attempts
        };
        Terms {
            max_attempts,
            ..self.terms
        }
    }
}
