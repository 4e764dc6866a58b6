//! What a step does.

use gate_core::vocabulary::{State, Verdict};

use super::{Action, Judged, Request, Setting, Wanted, Worker, World};
use crate::flaw::Flaw;
use crate::promise::{Cause, Promise, observe};
use crate::reference::{self, Ask, End, Receipt, Record, Settled, Unfinished, is_ours};

/// A world after a step.
#[derive(Clone, Debug)]
pub struct Step {
    /// How it is now.
    pub world: World,
    /// The rule that was followed, e.g. `T7`; empty where the store did nothing, `T3` and `T12` excepted.
    pub rule: &'static str,
}

impl Setting {
    /// The world after a step that [`Setting::actions`] has named.
    #[must_use]
    pub fn step(&self, world: &World, action: Action) -> Step {
        let mut world = world.clone();
        let rule = match action {
            Action::Deliver {
                worker,
                key,
                unfinished,
            } => deliver(&mut world, worker, key, unfinished),
            Action::SendAgain { worker } => self.send_again(&mut world, worker),
            Action::Judge { request } => self.judge(&mut world, request),
            Action::Answer { request, arrives } => self.answer(&mut world, request, arrives),
            Action::Lose { request } => {
                world.requests.remove(usize::from(request));
                ""
            }
            Action::Act { worker } => act(&mut world, worker),
            Action::Extend { worker, arrives } => self.extend(&mut world, worker, arrives),
            Action::Finish { worker, end } => finish(&mut world, worker, end),
            Action::Crash { worker } => {
                world.workers[usize::from(worker)] = Worker::Idle;
                ""
            }
            Action::Recover { worker, key, arrives } => self.recover(&mut world, worker, key, arrives),
            Action::Tick => self.tick(&mut world),
            Action::Resolve { key, to } => self.resolve(&mut world, key, to),
            Action::Reopen { worker, key, arrives } => self.reopen(&mut world, worker, key, arrives),
            Action::Delete { key } => {
                self.write(&mut world, Cause::Sweeper, key, None);
                "T15"
            }
        };
        let world = world.canonical(self.rules);
        Step { world, rule }
    }

    fn send_again(&self, world: &mut World, at: u8) -> &'static str {
        let worker = &mut world.workers[usize::from(at)];
        let request = match *worker {
            Worker::Asking { owner, key, .. } if self.rules.have(Flaw::UnknownIsClaimed) => {
                let receipt = Receipt { owner, fence: 0 };
                *worker = working(receipt, key, self.rules.terms.lease);
                None
            }
            Worker::Asking {
                ref mut owner,
                key,
                unfinished,
            } => {
                *owner = self.rules.token(*owner);
                let ask = Ask {
                    owner: *owner,
                    unfinished,
                };
                Some(Request::claim(key, ask))
            }
            Worker::Ending { receipt, key, end } => Some(Request::settle(key, receipt, end)),
            Worker::Idle | Worker::Working { .. } => None,
        };
        world.requests.extend(request);
        ""
    }

    fn judge(&self, world: &mut World, at: u8) -> &'static str {
        let request = &mut world.requests[usize::from(at)];
        if let Wanted::Claim { ask, ref mut judged } = request.what {
            let record = world.records[usize::from(request.key)].as_ref();
            let verdict = self.rules.judge(record, ask);
            *judged = Some(Judged { verdict, current: true });
            let mine = |record: &Record| record.state == State::Processing && record.receipt.owner.run == ask.owner.run;
            if record.is_some_and(mine) && verdict != Verdict::Reentrant {
                world.broken.add(Promise::LostClaimIsReentrant);
            }
        }
        ""
    }

    fn answer(&self, world: &mut World, at: u8, arrives: bool) -> &'static str {
        if !self.snapshots && matches!(world.requests[usize::from(at)].what, Wanted::Claim { .. }) {
            self.judge(world, at);
        }
        let request = world.requests.remove(usize::from(at));
        match request.what {
            Wanted::Claim { ask, judged } => {
                judged.map_or("", |judged| self.claim(world, request, ask, judged, arrives))
            }
            Wanted::Settle { receipt, end } => self.settle(world, request, receipt, end, arrives),
        }
    }

    fn claim(&self, world: &mut World, request: Request, ask: Ask, judged: Judged, arrives: bool) -> &'static str {
        let Judged { verdict, current } = judged;
        let writes = is_ours(verdict) || matches!(verdict, Verdict::Held | Verdict::Exhausted);
        if writes && !current && !self.rules.have(Flaw::GrantFromSnapshot) {
            // Not the version that was judged: to be read again, by the same request.
            world.requests.push(Request::claim(request.key, ask));
            return "";
        }
        self.hand_out(world, request.key, ask, verdict);
        if arrives {
            let answer = match world.records[usize::from(request.key)] {
                Some(record) if is_ours(verdict) => working(record.receipt, request.key, record.wait),
                _ => Worker::Idle,
            };
            world.tell(request, answer);
        }
        rule_of(verdict)
    }

    fn settle(&self, world: &mut World, request: Request, receipt: Receipt, end: End, arrives: bool) -> &'static str {
        let before = world.records[usize::from(request.key)];
        let (answer, after) = self.rules.settle(before, receipt, end);
        self.write(world, Cause::Owner(receipt), request.key, after);
        let ended_so = |record: Record| record.receipt == receipt && self.is_end(record, end);
        if answer == Settled::FencedOut && before.is_some_and(ended_so) {
            world.broken.add(Promise::LostEndIsAlready);
        }
        if arrives {
            world.tell(request, Worker::Idle);
        }
        match (answer, after.map(|record| record.state)) {
            (Settled::Settled | Settled::Late, Some(State::Completed)) => "T7",
            (Settled::Settled | Settled::Late, Some(State::Failed)) => "T8",
            (Settled::Settled | Settled::Late, Some(State::Dead)) => "T9",
            (Settled::Settled | Settled::Late, _) => "T10",
            (Settled::Already | Settled::FencedOut, _) => "",
        }
    }

    fn extend(&self, world: &mut World, at: u8, arrives: bool) -> &'static str {
        let Worker::Working {
            receipt, key, acted, ..
        } = world.workers[usize::from(at)]
        else {
            return "";
        };
        let extended = reference::extend(world.records[usize::from(key)], receipt, self.rules.terms);
        if extended.is_some() {
            self.write(world, Cause::Owner(receipt), key, extended);
        }
        if arrives {
            world.workers[usize::from(at)] = match extended {
                Some(Record { wait: lease, .. }) => Worker::Working {
                    receipt,
                    key,
                    lease,
                    acted,
                },
                None => Worker::Idle,
            };
        }
        ""
    }

    fn recover(&self, world: &mut World, worker: u8, key: u8, arrives: bool) -> &'static str {
        let ask = world.recovery();
        let Some(verdict) = self.rules.judge_recovery(world.records[usize::from(key)].as_ref(), ask) else {
            return "";
        };
        self.hand_out(world, key, ask, verdict);
        if let Some(Record { receipt, wait, .. }) = world.records[usize::from(key)]
            && is_ours(verdict)
            && arrives
        {
            world.workers[usize::from(worker)] = working(receipt, key, wait);
        }
        rule_of(verdict)
    }

    fn tick(&self, world: &mut World) -> &'static str {
        for record in world.records.iter_mut().flatten() {
            *record = self.rules.tick(*record);
        }
        for worker in &mut world.workers {
            if let Worker::Working { lease, .. } = worker {
                *lease = lease.saturating_sub(1);
            }
        }
        ""
    }

    fn resolve(&self, world: &mut World, key: u8, to: State) -> &'static str {
        let record = world.records[usize::from(key)];
        let fence = record.map_or(0, |record| record.receipt.fence);
        let resolved = reference::resolve(record, fence, to, self.rules.terms);
        self.write(world, Cause::Person, key, resolved.or(record));
        "T13"
    }

    fn reopen(&self, world: &mut World, worker: u8, key: u8, arrives: bool) -> &'static str {
        let record = world.records[usize::from(key)];
        let receipt = Receipt {
            owner: world.next_owner(),
            fence: self.rules.next_fence(record.as_ref(), world.last_fence),
        };
        world.last_fence += 1;
        let reopened = reference::reopen(record, receipt, self.rules.terms);
        self.write(world, Cause::Person, key, reopened.or(record));
        if arrives {
            world.workers[usize::from(worker)] = working(receipt, key, self.rules.terms.lease);
        }
        "T14"
    }

    fn is_end(&self, record: Record, end: End) -> bool {
        record.state
            == match end {
                End::Completed => State::Completed,
                End::Failed if record.attempt < self.rules.terms.max_attempts => State::Failed,
                End::Failed | End::Dead => State::Dead,
                End::Uncertain => State::Uncertain,
            }
    }

    /// Carries a verdict out on the record as it is now.
    fn hand_out(&self, world: &mut World, key: u8, ask: Ask, verdict: Verdict) {
        let before = world.records[usize::from(key)];
        let fence = self.rules.next_fence(before.as_ref(), world.last_fence);
        let after = reference::carry_out(before, ask, verdict, fence, self.rules.terms);
        if is_ours(verdict) && verdict != Verdict::Reentrant {
            world.last_fence += 1;
        }
        self.write(world, Cause::Handout, key, after);
    }

    /// The only place where a record changes. Who has read it before has read an old version from now on.
    fn write(&self, world: &mut World, cause: Cause, key: u8, after: Option<Record>) {
        let before = std::mem::replace(&mut world.records[usize::from(key)], after);
        let greatest = &mut world.greatest_fence[usize::from(key)];
        let change = (before, after);
        observe(
            &mut world.broken,
            greatest,
            cause,
            change,
            self.rules.terms.max_attempts,
        );
        if before == after {
            return;
        }
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

impl World {
    /// An answer reaches whoever waits for it.
    fn tell(&mut self, request: Request, answer: Worker) {
        let mut waiting = self.workers.iter_mut();
        if let Some(worker) = waiting.find(|worker| request.is_awaited_by(worker)) {
            *worker = answer;
        }
    }
}

impl Request {
    fn claim(key: u8, ask: Ask) -> Self {
        let what = Wanted::Claim { ask, judged: None };
        Self { key, what }
    }

    fn settle(key: u8, receipt: Receipt, end: End) -> Self {
        let what = Wanted::Settle { receipt, end };
        Self { key, what }
    }
}

fn deliver(world: &mut World, worker: u8, key: u8, unfinished: Unfinished) -> &'static str {
    let owner = world.next_owner();
    world.workers[usize::from(worker)] = Worker::Asking { key, owner, unfinished };
    world.requests.push(Request::claim(key, Ask { owner, unfinished }));
    ""
}

fn act(world: &mut World, at: u8) -> &'static str {
    if let Worker::Working { key, ref mut acted, .. } = world.workers[usize::from(at)] {
        *acted = true;
        let times = &mut world.effects[usize::from(key)];
        *times = (*times + 1).min(2);
    }
    ""
}

fn finish(world: &mut World, at: u8, end: End) -> &'static str {
    if let Worker::Working { receipt, key, .. } = world.workers[usize::from(at)] {
        world.workers[usize::from(at)] = Worker::Ending { key, receipt, end };
        world.requests.push(Request::settle(key, receipt, end));
    }
    ""
}

fn working(receipt: Receipt, key: u8, lease: u8) -> Worker {
    Worker::Working {
        receipt,
        key,
        lease,
        acted: false,
    }
}

fn rule_of(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Claimed => "T1",
        Verdict::Reentrant => "T2",
        Verdict::InProgress => "T3",
        Verdict::TakenOver => "T4",
        Verdict::Held => "T5",
        Verdict::Exhausted => "T6",
        Verdict::Retried => "T11",
        Verdict::Backoff => "T12",
        _ => "",
    }
}
