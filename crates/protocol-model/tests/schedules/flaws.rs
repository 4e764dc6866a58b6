//! Mistakes are found: each breaks the promise that it should, and each promise is broken by some mistake.

use std::collections::BTreeSet;

use crate::checker::{break_promise, search_all, small};
use protocol_model::flaw::{Flaw, Rules};
use protocol_model::promise::Promise;
use protocol_model::reference::Unfinished;
use protocol_model::world::{Action, Setting};

/// What a mistake leads to.
const FOUND: [(Flaw, Promise); 15] = [
    (Flaw::SettleWithoutOwner, Promise::OldReceiptWritesNothing),
    (Flaw::FencePerRow, Promise::FencesGrow),
    (Flaw::ClientClock, Promise::OneLiveOwner),
    (Flaw::GrantFromSnapshot, Promise::OneLiveOwner),
    (Flaw::GrantFromSnapshot, Promise::EndedStaysEnded),
    (Flaw::NewTokenPerTry, Promise::LostClaimIsReentrant),
    (Flaw::UnknownIsClaimed, Promise::NoClaimFromUnknown),
    (Flaw::EndedIsFencedOut, Promise::LostEndIsAlready),
    (Flaw::NoLease, Promise::EveryClaimCanEnd),
    (Flaw::RecoveryForgetsHold, Promise::EffectHappensOnce),
    (Flaw::RecoveryForgetsHold, Promise::HeldGoesToAPerson),
    (Flaw::LimitBeforeHold, Promise::HeldGoesToAPerson),
    (Flaw::NoLimit, Promise::AttemptsAreLimited),
    (Flaw::CompletedIsRetried, Promise::EndedStaysEnded),
    (Flaw::SweepTakesAll, Promise::LiveRecordsStay),
];

#[test]
fn every_flaw_breaks_its_promise() {
    for (flaw, promise) in FOUND {
        let setting = home_of(promise);
        let rules = Rules {
            flaw: Some(flaw),
            ..setting.rules
        };
        let schedule = break_promise(&Setting { rules, ..setting }, promise);
        let schedule = schedule.unwrap_or_else(|| panic!("{flaw:?} does not break {promise:?}"));
        show(&format!("{flaw:?} breaks {promise:?}"), &schedule);
    }
}

#[test]
fn every_flaw_and_every_promise_is_tried() {
    let promises: BTreeSet<Promise> = FOUND.iter().map(|(_, promise)| *promise).collect();
    assert_eq!(promises, BTreeSet::from(Promise::ALL));
    for flaw in Flaw::ALL {
        assert!(FOUND.iter().any(|(tried, _)| *tried == flaw), "{flaw:?}");
    }
}

/// Without a flaw the same worlds keep the same promises, so it is the flaw that breaks them.
#[test]
fn without_a_flaw_nothing_breaks() {
    for promise in [Promise::OneLiveOwner, Promise::EffectHappensOnce] {
        let found = search_all("sound", home_of(promise));
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
    }
}

/// Not a flaw of the gate, but the reason for holding, and for keys that the destination knows: whoever takes over cannot
/// tell whether the one before has acted already.
#[test]
fn a_take_over_may_repeat_the_effect() {
    let setting = Setting {
        effects: true,
        ..small()
    };
    let schedule = break_promise(&setting, Promise::EffectHappensOnce).expect("a schedule with two effects");
    show("two effects", &schedule);
}

/// A small world in which the promise is made.
fn home_of(promise: Promise) -> Setting {
    match promise {
        Promise::EffectHappensOnce => Setting {
            unfinished: vec![Unfinished::Hold],
            effects: true,
            ..small()
        },
        Promise::HeldGoesToAPerson => Setting {
            unfinished: vec![Unfinished::TakeOver, Unfinished::Hold],
            ..small()
        },
        _ => Setting {
            snapshots: true,
            interventions: true,
            ..small()
        },
    }
}

fn show(what: &str, schedule: &[Action]) {
    println!("{what} in {} steps:", schedule.len());
    for action in schedule {
        println!("    {action:?}");
    }
}
