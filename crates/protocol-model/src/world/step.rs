//! What a step does.

use super::{Action, Request, Setting, Wanted, Worker, World};
use crate::flaw::Flaw;
use crate::reference::{Ask, End, Receipt, Rule, Unfinished};

/// A world after a step.
#[derive(Clone, Debug)]
pub struct Step {
    /// How it is now.
    pub world: World,
    /// The rule that the store followed; `None` where it was not asked, or only told what has ended.
    pub rule: Option<Rule>,
}

impl Setting {
    /// The world after a step that [`Setting::actions`] has named.
    #[must_use]
    pub fn step(&self, world: &World, action: Action) -> Step {
        let mut world = world.clone();
        let rule = self.by_the_store(&mut world, action);
        match action {
            Action::Deliver {
                worker,
                key,
                unfinished,
            } => world.deliver(worker, key, unfinished),
            Action::SendAgain { worker } => self.send_again(&mut world, worker),
            Action::Lose { request } => drop(world.requests.remove(usize::from(request))),
            Action::Act { worker } => world.act(worker),
            Action::Finish { worker, end } => world.finish(worker, end),
            Action::Crash { worker } => world.workers[usize::from(worker)] = Worker::Idle,
            Action::Tick => self.tick(&mut world),
            _ => (),
        }
        let world = world.canonical(self.rules);
        Step { world, rule }
    }

    fn by_the_store(&self, world: &mut World, action: Action) -> Option<Rule> {
        match action {
            Action::Judge { request } => {
                self.judge(world, request);
                None
            }
            Action::Answer { request, arrives } => self.answer(world, request, arrives),
            Action::Extend { worker, arrives } => {
                self.extend(world, worker, arrives);
                None
            }
            Action::Recover { worker, key, arrives } => self.recover(world, worker, key, arrives),
            Action::Resolve { key, to } => self.resolve(world, key, to),
            Action::Reopen { worker, key, arrives } => self.reopen(world, worker, key, arrives),
            Action::Delete { key } => self.delete(world, key),
            _ => None,
        }
    }

    fn send_again(&self, world: &mut World, at: u8) {
        let worker = &mut world.workers[usize::from(at)];
        match *worker {
            Worker::Asking { key, owner, .. } if self.rules.have(Flaw::UnknownIsClaimed) => {
                *worker = Worker::starting(key, Receipt { owner, fence: 0 }, self.rules.terms.lease);
            }
            Worker::Asking {
                key,
                ref mut owner,
                unfinished,
            } => {
                *owner = self.rules.token(*owner);
                let ask = Ask {
                    owner: *owner,
                    unfinished,
                };
                world.requests.push(Request::claim(key, ask));
            }
            Worker::Ending { key, receipt, end } => world.requests.push(Request::settle(key, receipt, end)),
            Worker::Idle | Worker::Working { .. } => (),
        }
    }

    fn tick(&self, world: &mut World) {
        for record in world.records.iter_mut().flatten() {
            *record = self.rules.tick(*record);
        }
        for worker in &mut world.workers {
            if let Worker::Working { lease, .. } = worker {
                *lease = lease.saturating_sub(1);
            }
        }
    }
}

impl World {
    fn deliver(&mut self, at: u8, key: u8, unfinished: Unfinished) {
        let owner = self.next_owner();
        self.workers[usize::from(at)] = Worker::Asking { key, owner, unfinished };
        self.requests.push(Request::claim(key, Ask { owner, unfinished }));
    }

    fn act(&mut self, at: u8) {
        if let Worker::Working { key, acted, .. } = &mut self.workers[usize::from(at)] {
            *acted = true;
            let times = &mut self.effects[usize::from(*key)];
            *times = (*times + 1).min(2);
        }
    }

    fn finish(&mut self, at: u8, end: End) {
        if let Worker::Working { key, receipt, .. } = self.workers[usize::from(at)] {
            self.workers[usize::from(at)] = Worker::Ending { key, receipt, end };
            self.requests.push(Request::settle(key, receipt, end));
        }
    }

    /// An answer reaches whoever waits for it.
    pub(super) fn tell(&mut self, request: Request, answer: Worker) {
        let mut waiting = self.workers.iter_mut();
        if let Some(worker) = waiting.find(|worker| request.is_awaited_by(**worker)) {
            *worker = answer;
        }
    }
}

impl Worker {
    /// Has just been told that the claim is its own.
    pub(super) fn starting(key: u8, receipt: Receipt, lease: u8) -> Self {
        Self::Working {
            key,
            receipt,
            lease,
            acted: false,
        }
    }
}

impl Request {
    pub(super) fn claim(key: u8, ask: Ask) -> Self {
        let what = Wanted::Claim { ask, judged: None };
        Self { key, what }
    }

    fn settle(key: u8, receipt: Receipt, end: End) -> Self {
        let what = Wanted::Settle { receipt, end };
        Self { key, what }
    }

    /// Whether this worker waits for this kind of answer.
    pub(super) fn is_awaited_by(self, worker: Worker) -> bool {
        match (self.what, worker) {
            (Wanted::Claim { ask, .. }, Worker::Asking { owner, .. }) => owner.run == ask.owner.run,
            (Wanted::Settle { receipt, .. }, Worker::Ending { receipt: shown, .. }) => shown == receipt,
            _ => false,
        }
    }
}
