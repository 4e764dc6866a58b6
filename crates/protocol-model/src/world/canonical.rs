//! One world for all that differ in names only: which worker is which, how runs are called, how large the fences are.
//! Only the order of fences and the equality of runs mean anything to the rules.

use gate_core::vocabulary::Verdict;

use super::{Request, Wanted, Worker, World};
use crate::flaw::{Flaw, Rules};
use crate::reference::{Ask, End, Owner, Receipt, Unfinished};

impl World {
    /// The representative of its kind.
    pub(super) fn canonical(mut self, rules: Rules) -> Self {
        for record in self.records.iter_mut().flatten() {
            record.attempt = record.attempt.min(rules.terms.max_attempts);
        }
        if !rules.have(Flaw::FencePerRow) {
            self.rank_fences();
        }
        self.rename_runs();
        self
    }

    /// The smallest numbers in the same order.
    fn rank_fences(&mut self) {
        let mut used = 0_u128;
        self.each_fence(|fence| used |= 1 << *fence);
        let rank = |fence: u8| match fence {
            0 => 0,
            _ => u8::try_from((used >> 1 & (u128::MAX >> (128 - fence))).count_ones()).unwrap_or(u8::MAX),
        };
        self.each_fence(|fence| *fence = rank(*fence));
        self.last_fence = rank(127);
    }

    /// Numbers in the order in which one comes upon them.
    fn rename_runs(&mut self) {
        let mut names = Names::default();
        for record in self.records.iter_mut().flatten() {
            names.rename(&mut record.receipt.owner);
        }
        self.workers
            .sort_unstable_by_key(|worker| (worker.nameless(), worker.owner().map(|owner| names.order(owner))));
        for owner in self.workers.iter_mut().filter_map(Worker::owner_mut) {
            names.rename(owner);
        }
        self.requests
            .sort_unstable_by_key(|request| (request.nameless(), names.order(request.owner())));
        for request in &mut self.requests {
            names.rename(request.owner_mut());
        }
    }

    /// A run that nobody here has heard of.
    pub(super) fn next_owner(&self) -> Owner {
        let records = self.records.iter().flatten().map(|record| record.receipt.owner);
        let workers = self.workers.iter().filter_map(|worker| worker.owner());
        let requests = self.requests.iter().map(|request| request.owner());
        let greatest = records.chain(workers).chain(requests).map(|owner| owner.run).max();
        Owner {
            run: greatest.unwrap_or(0) + 1,
            draw: 0,
        }
    }

    fn each_fence(&mut self, mut see: impl FnMut(&mut u8)) {
        self.greatest_fence.iter_mut().for_each(&mut see);
        for record in self.records.iter_mut().flatten() {
            see(&mut record.receipt.fence);
        }
        for worker in &mut self.workers {
            if let Worker::Working { receipt, .. } | Worker::Ending { receipt, .. } = worker {
                see(&mut receipt.fence);
            }
        }
        for request in &mut self.requests {
            if let Wanted::Settle { receipt, .. } = &mut request.what {
                see(&mut receipt.fence);
            }
        }
    }
}

/// New numbers for runs.
#[derive(Default)]
struct Names {
    /// Place: old number. 0: not named yet.
    new: [u8; 32],
    count: u8,
}

impl Names {
    fn rename(&mut self, owner: &mut Owner) {
        let new = &mut self.new[usize::from(owner.run)];
        if *new == 0 {
            self.count += 1;
            *new = self.count;
        }
        owner.run = *new;
    }

    /// Those with a new name first.
    fn order(&self, owner: Owner) -> (bool, u8, u8) {
        match self.new[usize::from(owner.run)] {
            0 => (true, owner.run, owner.draw),
            name => (false, name, owner.draw),
        }
    }
}

const NOBODY: Owner = Owner { run: 0, draw: 0 };

impl Worker {
    fn owner(mut self) -> Option<Owner> {
        self.owner_mut().copied()
    }

    fn owner_mut(&mut self) -> Option<&mut Owner> {
        match self {
            Self::Idle => None,
            Self::Asking { owner, .. } => Some(owner),
            Self::Working { receipt, .. } | Self::Ending { receipt, .. } => Some(&mut receipt.owner),
        }
    }

    fn nameless(mut self) -> Self {
        if let Some(owner) = self.owner_mut() {
            *owner = NOBODY;
        }
        self
    }
}

/// A request but for its run, in a form that has an order.
type Nameless = (u8, Option<(Unfinished, Option<(u8, bool)>)>, Option<(u8, End)>);

impl Request {
    fn owner(self) -> Owner {
        match self.what {
            Wanted::Claim { ask, .. } => ask.owner,
            Wanted::Settle { receipt, .. } => receipt.owner,
        }
    }

    fn owner_mut(&mut self) -> &mut Owner {
        match &mut self.what {
            Wanted::Claim { ask, .. } => &mut ask.owner,
            Wanted::Settle { receipt, .. } => &mut receipt.owner,
        }
    }

    fn nameless(self) -> Nameless {
        match self.what {
            Wanted::Claim {
                ask: Ask { unfinished, .. },
                judged,
            } => {
                let judged = judged.map(|judged| (place(judged.verdict), judged.current));
                (self.key, Some((unfinished, judged)), None)
            }
            Wanted::Settle {
                receipt: Receipt { fence, .. },
                end,
            } => (self.key, None, Some((fence, end))),
        }
    }
}

fn place(verdict: Verdict) -> u8 {
    verdict as u8
}

#[cfg(test)]
mod tests;
