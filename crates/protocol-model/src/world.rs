//! Workers, a store and what lies between them. A world knows every step that may come next; which one comes is up to the
//! checker, and so are time, crashes and what is lost.
//!
//! - A claim is judged and carried out in two steps, with anything in between, as by a store that refuses from a snapshot
//!   and grants under the lock. A request that is on its way may arrive at any time, also after its sender has crashed, or
//!   never.
//! - Nothing is counted that would have an end: any number of ticks, deliveries, tries, crashes and interventions. What
//!   makes the number of worlds finite is `canonical.rs`: worlds that differ in names only are one.

mod canonical;
mod next;
mod step;
mod store;

use gate_core::vocabulary::{State, Verdict};

use crate::flaw::Rules;
use crate::promise::{Broken, Promise};
use crate::reference::{Ask, End, Owner, Receipt, Record, Unfinished, carry_out, has_ended, is_ours};

/// How large a world is, and what may happen in it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The store's rules.
    pub rules: Rules,
    /// Event keys.
    pub keys: u8,
    /// Workers that are there at the same time.
    pub workers: u8,
    /// Requests that are on their way at the same time.
    pub on_the_way: usize,
    /// Policies that deliveries may come with.
    pub unfinished: Vec<Unfinished>,
    /// Whether a claim is judged in one step and carried out in another.
    pub snapshots: bool,
    /// Whether a person resolves and reopens, and retention deletes.
    pub interventions: bool,
    /// Whether workers do something outside, and are honest about it: what was done is not reported as failed.
    pub effects: bool,
}

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) records: Vec<Option<Record>>,
    pub(crate) last_fence: u8,
    pub(crate) workers: Vec<Worker>,
    pub(crate) requests: Vec<Request>,
    /// Per key, for the promises: the greatest fence so far, and how often the effect has happened (twice is many).
    pub(crate) greatest_fence: Vec<u8>,
    pub(crate) effects: Vec<u8>,
    pub(crate) broken: Broken,
}

/// One node run at a time, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Worker {
    Idle,
    /// Waits for the answer to its claim.
    Asking {
        key: u8,
        owner: Owner,
        unfinished: Unfinished,
    },
    /// Has a claim, as far as it knows.
    Working {
        key: u8,
        receipt: Receipt,
        /// What is left of the lease that it was told of.
        lease: u8,
        acted: bool,
    },
    /// Waits for the answer to the end of its claim.
    Ending {
        key: u8,
        receipt: Receipt,
        end: End,
    },
}

/// A request on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    pub(crate) key: u8,
    pub(crate) what: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    Claim { ask: Ask, judged: Option<Judged> },
    Settle { receipt: Receipt, end: End },
}

/// What a claim's snapshot said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    /// False once the record is no longer in the version that was read.
    pub(crate) current: bool,
}

/// A step. Workers and requests by their place in the lists, keys by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A delivery starts a run, which sends its claim.
    Deliver {
        /// An idle one.
        worker: u8,
        /// Of which event.
        key: u8,
        /// With which policy.
        unfinished: Unfinished,
    },
    /// No answer came in time: the same once more.
    SendAgain {
        /// Asking or ending.
        worker: u8,
    },
    /// The store reads the record and judges a claim.
    Judge {
        /// Which claim.
        request: u8,
    },
    /// The store does what it has to; its answer arrives or is lost.
    Answer {
        /// Which request.
        request: u8,
        /// False where the answer is lost.
        arrives: bool,
    },
    /// The request never reaches the store.
    Lose {
        /// Which request.
        request: u8,
    },
    /// The worker does what the workflow is for.
    Act {
        /// Working.
        worker: u8,
    },
    /// The worker asks for a longer lease.
    Extend {
        /// Working.
        worker: u8,
        /// False where the answer is lost.
        arrives: bool,
    },
    /// The worker sends the end of its claim.
    Finish {
        /// Working.
        worker: u8,
        /// Which end.
        end: End,
    },
    /// The worker is gone, with all that it knew.
    Crash {
        /// Not idle.
        worker: u8,
    },
    /// The recovery takes what is due.
    Recover {
        /// An idle one.
        worker: u8,
        /// Which record.
        key: u8,
        /// False where the answer is lost.
        arrives: bool,
    },
    /// The store's clock moves on.
    Tick,
    /// A person says how an uncertain claim ended.
    Resolve {
        /// Which record.
        key: u8,
        /// How.
        to: State,
    },
    /// A person hands it out once more.
    Reopen {
        /// An idle one.
        worker: u8,
        /// Which record.
        key: u8,
        /// False where the answer is lost.
        arrives: bool,
    },
    /// Retention.
    Delete {
        /// Which record.
        key: u8,
    },
}

impl Setting {
    /// Nothing has happened yet.
    #[must_use]
    pub fn start(&self) -> World {
        let keys = usize::from(self.keys);
        World {
            records: vec![None; keys],
            last_fence: 0,
            workers: vec![Worker::Idle; usize::from(self.workers)],
            requests: Vec::new(),
            greatest_fence: vec![0; keys],
            effects: vec![0; keys],
            broken: Broken::default(),
        }
    }

    /// Whether the world keeps a promise, as far as can be seen by now.
    #[must_use]
    pub fn keeps(&self, world: &World, promise: Promise) -> bool {
        match promise {
            Promise::OneLiveOwner => world.has_one_live_owner(),
            Promise::NoClaimFromUnknown => world.has_real_receipts(),
            Promise::EffectHappensOnce => world.effects.iter().all(|&times| times <= 1),
            Promise::EveryClaimCanEnd => self.every_claim_can_end(world),
            _ => !world.broken.holds(promise),
        }
    }

    /// All workers crash and nothing on its way arrives. Then the clock and the recovery, or the clock and redeliveries,
    /// must be enough.
    fn every_claim_can_end(&self, world: &World) -> bool {
        let by_redelivery = |record, ask| Some(self.rules.judge(Some(record), ask));
        let by_recovery = |record, ask| self.rules.judge_recovery(Some(record), ask);
        let records = world.records.iter().flatten().copied();
        let mut unfinished = records.filter(|record| !has_ended(record.state));
        unfinished.all(|record| self.ends(record, by_recovery) && self.ends(record, by_redelivery))
    }

    fn ends(&self, mut record: Record, hand_out: impl Fn(Record, Ask) -> Option<Verdict>) -> bool {
        let terms = self.rules.terms;
        for _ in 0..terms.lease.max(terms.backoff) {
            record = self.rules.tick(record);
        }
        let ask = store::recovery(Owner { run: u8::MAX, draw: 0 });
        let Some(verdict) = hand_out(record, ask) else {
            return false;
        };
        let after = carry_out(Some(record), ask, verdict, u8::MAX, terms);
        let ended = match after {
            Some(Record { receipt, .. }) if is_ours(verdict) => self.rules.settle(after, receipt, End::Completed).1,
            other => other,
        };
        ended.is_some_and(|record| has_ended(record.state))
    }
}

impl World {
    fn has_one_live_owner(&self) -> bool {
        let live = |of: usize| {
            let working = self.workers.iter().filter(
                |worker| matches!(worker, Worker::Working { key, lease, .. } if usize::from(*key) == of && *lease > 0),
            );
            working.count()
        };
        (0..self.records.len()).all(|key| live(key) <= 1)
    }

    fn has_real_receipts(&self) -> bool {
        self.workers.iter().all(|worker| match worker {
            Worker::Working { receipt, key, .. } => {
                (1..=self.greatest_fence[usize::from(*key)]).contains(&receipt.fence)
            }
            _ => true,
        })
    }
}
