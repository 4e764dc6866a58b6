//! Which steps may come next.

use gate_core::vocabulary::State;

use super::{Action, Request, Setting, Wanted, Worker, World};
use crate::reference::{Ask, End, Unfinished, has_ended, is_ours};

impl Setting {
    /// Every step that may come next, always in the same order.
    pub fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        self.of_the_world(world, actions);
        for (at, worker) in (0..).zip(&world.workers) {
            self.of_a_worker(world, at, *worker, actions);
        }
        for (at, request) in (0..).zip(&world.requests) {
            self.of_a_request(world, at, *request, actions);
        }
    }

    /// Deliveries, recovery, time, people.
    fn of_the_world(&self, world: &World, actions: &mut Vec<Action>) {
        actions.push(Action::Tick);
        // One idle worker is like another.
        let idle = (0..).zip(&world.workers).find(|(_, worker)| **worker == Worker::Idle);
        let free = idle.map(|(worker, _)| worker);
        for (key, record) in (0..).zip(&world.records) {
            if let Some(worker) = free {
                if self.has_room(world) {
                    let deliver = |&unfinished: &Unfinished| Action::Deliver {
                        worker,
                        key,
                        unfinished,
                    };
                    actions.extend(self.unfinished.iter().map(deliver));
                }
                let verdict = self.rules.judge_recovery(record.as_ref(), world.recovery());
                let answers = verdict.map_or(&[][..], |verdict| either(is_ours(verdict)));
                actions.extend(answers.iter().map(|&arrives| Action::Recover { worker, key, arrives }));
            }
            let Some(record) = record else {
                continue;
            };
            if !self.interventions {
                continue;
            }
            if record.state == State::Uncertain {
                let ends = [State::Completed, State::Failed, State::Dead];
                actions.extend(ends.map(|to| Action::Resolve { key, to }));
            }
            if let Some(worker) = free.filter(|_| has_ended(record.state)) {
                actions.extend([true, false].map(|arrives| Action::Reopen { worker, key, arrives }));
            }
            if self.rules.may_be_deleted(record) {
                actions.push(Action::Delete { key });
            }
        }
    }

    fn of_a_worker(&self, world: &World, at: u8, worker: Worker, actions: &mut Vec<Action>) {
        match worker {
            Worker::Idle => return,
            Worker::Asking { .. } | Worker::Ending { .. } => {
                if self.has_room(world) {
                    actions.push(Action::SendAgain { worker: at });
                }
            }
            Worker::Working { acted, .. } => {
                if self.effects && !acted {
                    actions.push(Action::Act { worker: at });
                }
                actions.extend([true, false].map(|arrives| Action::Extend { worker: at, arrives }));
                let honest = |end: &End| match end {
                    End::Completed => !self.effects || acted,
                    End::Failed => !self.effects || !acted,
                    End::Uncertain | End::Dead => true,
                };
                let ends = [End::Completed, End::Failed, End::Uncertain, End::Dead];
                let finish = |end| Action::Finish { worker: at, end };
                if self.has_room(world) {
                    actions.extend(ends.into_iter().filter(honest).map(finish));
                }
            }
        }
        actions.push(Action::Crash { worker: at });
    }

    fn of_a_request(&self, world: &World, at: u8, request: Request, actions: &mut Vec<Action>) {
        actions.push(Action::Lose { request: at });
        let unread = matches!(request.what, Wanted::Claim { judged: None, .. });
        if unread && self.snapshots {
            actions.push(Action::Judge { request: at });
            return;
        }
        let answers = either(world.is_awaited(request));
        actions.extend(answers.iter().map(|&arrives| Action::Answer { request: at, arrives }));
    }

    fn has_room(&self, world: &World) -> bool {
        world.requests.len() < self.on_the_way
    }
}

/// Whether an answer arrives or not makes a difference only where somebody waits for it.
fn either(waits: bool) -> &'static [bool] {
    if waits { &[true, false] } else { &[false] }
}

impl World {
    /// What the recovery asks with; the policy of the claim before it stays with the record.
    pub(super) fn recovery(&self) -> Ask {
        Ask {
            owner: self.next_owner(),
            unfinished: Unfinished::TakeOver,
        }
    }

    /// Whether its sender still waits for this kind of answer.
    pub(super) fn is_awaited(&self, request: Request) -> bool {
        self.workers.iter().any(|worker| request.is_awaited_by(worker))
    }
}

impl Request {
    pub(super) fn is_awaited_by(self, worker: &Worker) -> bool {
        match (self.what, worker) {
            (Wanted::Claim { .. }, Worker::Asking { owner, .. }) => owner.run == self.owner().run,
            (Wanted::Settle { receipt, .. }, Worker::Ending { receipt: shown, .. }) => *shown == receipt,
            _ => false,
        }
    }
}
