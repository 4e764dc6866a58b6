//! What must hold whatever happens. Judged from outside, by comparing what was there before and after a step.

use gate_core::vocabulary::State;

use crate::reference::{Receipt, Record, has_ended};

/// A promise of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Promise {
    /// At most one worker per key holds a receipt whose lease is live.
    OneLiveOwner,
    /// A worker with another receipt than the record's newest one changes nothing.
    OldReceiptWritesNothing,
    /// Every ownership of a key has a larger fence than all before it, also after deletion.
    FencesGrow,
    /// What has ended is moved by a person or the sweeper only; above all, what is completed is not handed out again.
    EndedStaysEnded,
    /// A worker works only with a receipt that the store gave: an unknown is never taken for a claim.
    NoClaimFromUnknown,
    /// A run that asks again while the claim is its own is told `reentrant`.
    LostClaimIsReentrant,
    /// An owner that ends its claim again is not told that it was fenced out.
    LostEndIsAlready,
    /// Nothing is handed out more often than allowed, unless by a person.
    AttemptsAreLimited,
    /// Retention deletes what is completed or dead, and nothing else.
    LiveRecordsStay,
    /// Where unfinished claims are held (or completed at once), the effect happens at most once without a person, even if
    /// the destination knows no idempotency keys.
    EffectHappensOnce,
    /// What was claimed to be held and was interrupted goes to a person, also where no attempts are left.
    HeldGoesToAPerson,
    /// Whatever crashes now, recovery alone brings every claim to its end, and so do redeliveries alone.
    EveryClaimCanEnd,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::OneLiveOwner,
        Self::OldReceiptWritesNothing,
        Self::FencesGrow,
        Self::EndedStaysEnded,
        Self::NoClaimFromUnknown,
        Self::LostClaimIsReentrant,
        Self::LostEndIsAlready,
        Self::AttemptsAreLimited,
        Self::LiveRecordsStay,
        Self::EffectHappensOnce,
        Self::HeldGoesToAPerson,
        Self::EveryClaimCanEnd,
    ];
}

/// Promises that some step has broken. Empty in every state of a sound protocol, so it does not add states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Broken(u16);

impl Broken {
    pub(crate) fn add(&mut self, promise: Promise) {
        self.0 |= 1 << promise as u16;
    }

    pub(crate) fn holds(self, promise: Promise) -> bool {
        self.0 & 1 << promise as u16 != 0
    }
}

/// Who caused a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// A delivery or the recovery.
    Handout,
    /// A worker that showed this receipt.
    Owner(Receipt),
    /// A person.
    Person,
    /// Retention.
    Sweeper,
}

/// Looks at one change of one record. `greatest`: the greatest fence this key has had, to be kept.
pub(crate) fn observe(
    broken: &mut Broken,
    greatest: &mut u8,
    cause: Cause,
    (before, after): (Option<Record>, Option<Record>),
    max_attempts: u8,
) {
    if before == after {
        return;
    }
    if let (Cause::Owner(shown), held) = (cause, before.map(|record| record.receipt))
        && held != Some(shown)
    {
        broken.add(Promise::OldReceiptWritesNothing);
    }
    if let Some(Record { receipt, attempt, .. }) = after
        && before.map(|record| record.receipt.fence) != Some(receipt.fence)
    {
        if receipt.fence <= *greatest {
            broken.add(Promise::FencesGrow);
        }
        *greatest = receipt.fence.max(*greatest);
        if matches!(cause, Cause::Handout) && attempt > max_attempts {
            broken.add(Promise::AttemptsAreLimited);
        }
    }
    let state = before.map(|record| record.state);
    if state.is_some_and(has_ended) && matches!(cause, Cause::Handout | Cause::Owner(_)) {
        broken.add(Promise::EndedStaysEnded);
    }
    let interrupted = before.filter(|record| record.hold && record.state == State::Processing);
    if let (Cause::Handout, Some(held), Some(after)) = (cause, interrupted, after)
        && (after.receipt != held.receipt || after.state == State::Dead)
    {
        broken.add(Promise::HeldGoesToAPerson);
    }
    if matches!(cause, Cause::Sweeper) && !matches!(state, Some(State::Completed | State::Dead)) {
        broken.add(Promise::LiveRecordsStay);
    }
}
