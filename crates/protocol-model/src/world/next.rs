//! Which steps may come next.

use gate_core::vocabulary::State;

use super::store::recovery;
use super::{Action, Request, Setting, Wanted, Worker, World};
use crate::reference::{End, Record, Unfinished, has_ended, is_ours};

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

    /// Time, deliveries and the recovery, people and the sweeper.
    fn of_the_world(&self, world: &World, actions: &mut Vec<Action>) {
        actions.push(Action::Tick);
        // One idle worker is like another.
        let mut idle = (0..).zip(&world.workers).filter(|(_, worker)| **worker == Worker::Idle);
        let free = idle.next().map(|(at, _)| at);
        for (key, record) in (0..).zip(&world.records) {
            if let Some(worker) = free {
                self.handouts(world, worker, key, actions);
            }
            if let Some(record) = record.filter(|_| self.interventions) {
                self.interventions(record, free, key, actions);
            }
        }
    }

    fn handouts(&self, world: &World, worker: u8, key: u8, actions: &mut Vec<Action>) {
        if self.has_room(world) {
            let deliver = |&unfinished: &Unfinished| Action::Deliver {
                worker,
                key,
                unfinished,
            };
            actions.extend(self.unfinished.iter().map(deliver));
        }
        let record = world.records[usize::from(key)];
        if let Some(verdict) = self.rules.judge_recovery(record, recovery(world.next_owner())) {
            let recover = |&arrives: &bool| Action::Recover { worker, key, arrives };
            actions.extend(either(is_ours(verdict)).iter().map(recover));
        }
    }

    fn interventions(&self, record: Record, free: Option<u8>, key: u8, actions: &mut Vec<Action>) {
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
        let awaited = world.workers.iter().any(|worker| request.is_awaited_by(*worker));
        let answer = |&arrives: &bool| Action::Answer { request: at, arrives };
        actions.extend(either(awaited).iter().map(answer));
    }

    fn has_room(&self, world: &World) -> bool {
        world.requests.len() < self.on_the_way
    }
}

/// Whether an answer arrives or not makes a difference only where somebody waits for it.
fn either(waits: bool) -> &'static [bool] {
    if waits { &[true, false] } else { &[false] }
}
