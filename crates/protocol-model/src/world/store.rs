//! What the store does with a request, by the reference, and what its answer does to the worker that gets it.

use gate_core::vocabulary::{State, Verdict};

use super::{Judged, Request, Setting, Wanted, Worker, World};
use crate::flaw::Flaw;
use crate::promise::{Cause, Promise, observe};
use crate::reference::{self, Ask, End, Owner, Receipt, Record, Rule, Settled, Unfinished, is_ours};

impl Setting {
    /// Reads the record. A refusal is final, whatever happens before it is told; a grant is not.
    pub(super) fn judge(&self, world: &mut World, at: u8) {
        let Request { key, ref mut what } = world.requests[usize::from(at)];
        if let Wanted::Claim { ask, judged } = what {
            let record = world.records[usize::from(key)];
            let verdict = self.rules.judge(record, *ask);
            *judged = Some(Judged { verdict, current: true });
            let mine = |record: Record| record.state == State::Processing && record.receipt.owner.run == ask.owner.run;
            if record.is_some_and(mine) && verdict != Verdict::Reentrant {
                world.broken.add(Promise::LostClaimIsReentrant);
            }
        }
    }

    pub(super) fn answer(&self, world: &mut World, at: u8, arrives: bool) -> Option<Rule> {
        if !self.snapshots {
            self.judge(world, at);
        }
        let request = world.requests.remove(usize::from(at));
        match request.what {
            Wanted::Claim { ask, judged } => self.claim(world, request, ask, judged?, arrives),
            Wanted::Settle { receipt, end } => self.settle(world, request, receipt, end, arrives),
        }
    }

    fn claim(&self, world: &mut World, request: Request, ask: Ask, judged: Judged, arrives: bool) -> Option<Rule> {
        let Judged { verdict, current } = judged;
        let writes = is_ours(verdict) || matches!(verdict, Verdict::Held | Verdict::Exhausted);
        if writes && !current && !self.rules.have(Flaw::GrantFromSnapshot) {
            // Not the version that was judged: it is judged again, and the request is still on its way.
            world.requests.push(Request::claim(request.key, ask));
            return None;
        }
        let after = self.hand_out(world, request.key, ask, verdict);
        if arrives {
            let answer = match after {
                Some(record) if is_ours(verdict) => Worker::starting(request.key, record.receipt, record.wait),
                _ => Worker::Idle,
            };
            world.tell(request, answer);
        }
        Rule::of_verdict(verdict)
    }

    fn settle(&self, world: &mut World, request: Request, receipt: Receipt, end: End, arrives: bool) -> Option<Rule> {
        let before = world.records[usize::from(request.key)];
        let (answer, after) = self.rules.settle(before, receipt, end);
        self.write(world, Cause::Owner(receipt), request.key, after);
        let ended_so =
            |record: Record| record.receipt == receipt && record.state == self.state_after(end, record.attempt);
        if answer == Settled::FencedOut && before.is_some_and(ended_so) {
            world.broken.add(Promise::LostEndIsAlready);
        }
        if arrives {
            world.tell(request, Worker::Idle);
        }
        Rule::of_end(answer, after?.state)
    }

    fn state_after(&self, end: End, attempt: u8) -> State {
        match end {
            End::Completed => State::Completed,
            End::Failed if attempt < self.rules.terms.max_attempts => State::Failed,
            End::Failed | End::Dead => State::Dead,
            End::Uncertain => State::Uncertain,
        }
    }

    pub(super) fn extend(&self, world: &mut World, at: u8, arrives: bool) {
        let worker = world.workers[usize::from(at)];
        if let Worker::Working {
            key, receipt, acted, ..
        } = worker
        {
            let before = world.records[usize::from(key)];
            let extended = reference::extend(before, receipt, self.rules.terms);
            self.write(world, Cause::Owner(receipt), key, extended.or(before));
            if arrives {
                let still = |Record { wait: lease, .. }| Worker::Working {
                    key,
                    receipt,
                    lease,
                    acted,
                };
                world.workers[usize::from(at)] = extended.map_or(Worker::Idle, still);
            }
        }
    }

    /// One step, under the lock.
    pub(super) fn recover(&self, world: &mut World, worker: u8, key: u8, arrives: bool) -> Option<Rule> {
        let ask = recovery(world.next_owner());
        let verdict = self.rules.judge_recovery(world.records[usize::from(key)], ask)?;
        let after = self.hand_out(world, key, ask, verdict)?;
        if is_ours(verdict) && arrives {
            world.workers[usize::from(worker)] = Worker::starting(key, after.receipt, after.wait);
        }
        Rule::of_verdict(verdict)
    }

    pub(super) fn resolve(&self, world: &mut World, key: u8, to: State) -> Option<Rule> {
        let before = world.records[usize::from(key)]?;
        let resolved = reference::resolve(Some(before), before.receipt.fence, to, self.rules.terms)?;
        self.write(world, Cause::Person, key, Some(resolved));
        Some(Rule::T13)
    }

    pub(super) fn reopen(&self, world: &mut World, worker: u8, key: u8, arrives: bool) -> Option<Rule> {
        let before = world.records[usize::from(key)];
        let receipt = Receipt {
            owner: world.next_owner(),
            fence: self.rules.next_fence(before, world.last_fence),
        };
        let reopened = reference::reopen(before, receipt, self.rules.terms)?;
        world.last_fence += 1;
        self.write(world, Cause::Person, key, Some(reopened));
        if arrives {
            world.workers[usize::from(worker)] = Worker::starting(key, receipt, reopened.wait);
        }
        Some(Rule::T14)
    }

    pub(super) fn delete(&self, world: &mut World, key: u8) -> Option<Rule> {
        world.records[usize::from(key)]?;
        self.write(world, Cause::Sweeper, key, None);
        Some(Rule::T15)
    }

    /// Carries a verdict out on the record as it is now.
    fn hand_out(&self, world: &mut World, key: u8, ask: Ask, verdict: Verdict) -> Option<Record> {
        let before = world.records[usize::from(key)];
        let fence = self.rules.next_fence(before, world.last_fence);
        let after = reference::carry_out(before, ask, verdict, fence, self.rules.terms);
        if is_ours(verdict) && verdict != Verdict::Reentrant {
            world.last_fence += 1;
        }
        self.write(world, Cause::Handout, key, after);
        after
    }

    /// The only place where a record changes. Whoever has read it before has read an old version from now on.
    fn write(&self, world: &mut World, cause: Cause, key: u8, after: Option<Record>) {
        let place = usize::from(key);
        let change = (world.records[place], after);
        let (broken, greatest) = (&mut world.broken, &mut world.greatest_fence[place]);
        observe(broken, greatest, cause, change, self.rules.terms.max_attempts);
        if world.records[place] != after {
            world.records[place] = after;
            for request in world.requests.iter_mut().filter(|request| request.key == key) {
                if let Wanted::Claim {
                    judged: Some(judged), ..
                } = &mut request.what
                {
                    judged.current = false;
                }
            }
        }
    }
}

/// What the recovery asks with; the policy of the claims before it stays with the record.
pub(super) fn recovery(owner: Owner) -> Ask {
    Ask {
        owner,
        unfinished: Unfinished::TakeOver,
    }
}
