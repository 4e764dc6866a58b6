//! Every schedule of small worlds.

mod checker;

use checker::{search_all, small};
use protocol_model::reference::Unfinished;
use protocol_model::world::Setting;

#[test]
fn one_key() {
    let pol = vec![Unfinished::TakeOver, Unfinished::Hold, Unfinished::CompleteOnClaim];
    let all = Setting {
        unfinished: pol.clone(),
        snapshots: true,
        interventions: true,
        ..small()
    };
    for s in [
        all.clone(),
        Setting {
            on_the_way: 2,
            ..all.clone()
        },
        Setting {
            workers: 3,
            ..all.clone()
        },
        Setting {
            unfinished: vec![Unfinished::Hold, Unfinished::CompleteOnClaim],
            effects: true,
            interventions: false,
            on_the_way: 2,
            ..all.clone()
        },
        Setting {
            keys: 2,
            snapshots: false,
            interventions: false,
            unfinished: vec![Unfinished::TakeOver],
            ..all.clone()
        },
        Setting {
            keys: 2,
            snapshots: true,
            interventions: false,
            unfinished: vec![Unfinished::TakeOver],
            ..all.clone()
        },
        Setting {
            keys: 2,
            snapshots: false,
            interventions: true,
            unfinished: vec![Unfinished::TakeOver],
            ..all.clone()
        },
        Setting {
            workers: 3,
            on_the_way: 2,
            snapshots: false,
            interventions: true,
            unfinished: vec![Unfinished::TakeOver],
            ..all.clone()
        },
    ] {
        let found = search_all(s);
        println!(
            "{} worlds {} steps depth {} {:?} {:?} {:?}",
            found.worlds,
            found.steps,
            found.depth,
            found.time,
            found.rules.len(),
            found.broken
        );
    }
}
