use gate_core::vocabulary::State;

use super::*;
use crate::promise::Broken;
use crate::reference::{Record, Terms};

const RULES: Rules = Rules {
    terms: Terms {
        lease: 1,
        backoff: 1,
        max_attempts: 2,
    },
    flaw: None,
};

/// Somebody works on the record, somebody who has lost it works too, and the end of a third is still on its way.
fn world(names: [u8; 3], fences: [u8; 3]) -> World {
    let receipts = [0, 1, 2].map(|at| {
        let owner = Owner {
            run: names[at],
            draw: 0,
        };
        Receipt {
            owner,
            fence: fences[at],
        }
    });
    let working = |receipt, lease| Worker::Working {
        key: 0,
        receipt,
        lease,
        acted: false,
    };
    let what = Wanted::Settle {
        receipt: receipts[2],
        end: End::Failed,
    };
    World {
        records: vec![Some(Record {
            state: State::Processing,
            receipt: receipts[0],
            attempt: 2,
            wait: 1,
            hold: false,
        })],
        last_fence: 99,
        workers: vec![working(receipts[0], 1), working(receipts[1], 0)],
        requests: vec![Request { key: 0, what }],
        greatest_fence: vec![fences[0]],
        effects: vec![0],
        broken: Broken::default(),
    }
}

#[test]
fn names_of_runs_and_workers_do_not_matter() {
    let one = world([1, 2, 3], [3, 2, 1]).canonical(RULES);
    let mut other = world([7, 9, 4], [3, 2, 1]);
    other.workers.reverse();
    assert_eq!(other.canonical(RULES), one);
    assert_ne!(world([1, 2, 2], [3, 2, 1]).canonical(RULES), one);
    assert_ne!(world([1, 1, 3], [3, 2, 1]).canonical(RULES), one);
}

#[test]
fn of_fences_only_the_order_matters() {
    let one = world([1, 2, 3], [3, 2, 1]).canonical(RULES);
    assert_eq!(world([1, 2, 3], [127, 40, 7]).canonical(RULES), one);
    assert_eq!(one.last_fence, 3);
    assert_ne!(world([1, 2, 3], [3, 1, 2]).canonical(RULES), one);
    assert_ne!(world([1, 2, 3], [3, 2, 2]).canonical(RULES), one);
}

#[test]
fn the_next_run_is_a_new_one() {
    let world = world([1, 2, 3], [3, 2, 1]).canonical(RULES);
    assert_eq!(world.next_owner().run, 4);
}
