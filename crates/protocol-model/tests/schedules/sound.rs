//! Every schedule of small worlds, however long: no promise is broken, and no rule was left untried.

use crate::checker::{Found, search_all, small};
use protocol_model::flaw::Rules;
use protocol_model::reference::{Rule, Terms, Unfinished};
use protocol_model::world::Setting;

use Unfinished::{CompleteOnClaim, Hold, TakeOver};

/// Rules that only a person or the sweeper follows.
const BY_INTERVENTION: [Rule; 3] = [Rule::T13, Rule::T14, Rule::T15];

#[test]
fn one_key_with_late_and_lost_requests() {
    let setting = Setting {
        on_the_way: 2,
        unfinished: vec![TakeOver, Hold],
        snapshots: true,
        interventions: true,
        ..small()
    };
    is_sound("one key, late and lost requests", setting, &[]);
}

#[test]
fn one_key_with_three_workers_and_every_policy() {
    let setting = Setting {
        workers: 3,
        unfinished: vec![TakeOver, Hold, CompleteOnClaim],
        snapshots: true,
        interventions: true,
        ..small()
    };
    is_sound("one key, three workers, every policy", setting, &[]);
}

#[test]
fn one_key_with_longer_terms() {
    let terms = Terms {
        lease: 2,
        backoff: 3,
        max_attempts: 3,
    };
    let setting = Setting {
        rules: Rules { terms, flaw: None },
        unfinished: vec![TakeOver, Hold],
        snapshots: true,
        interventions: true,
        ..small()
    };
    is_sound("one key, longer terms", setting, &[]);
}

#[test]
fn two_keys_with_one_sequence_of_fences() {
    let setting = Setting {
        keys: 2,
        interventions: true,
        ..small()
    };
    is_sound("two keys", setting, &[Rule::T5]);
}

#[test]
fn the_effect_happens_once_where_unfinished_claims_are_held() {
    let setting = Setting {
        on_the_way: 2,
        unfinished: vec![Hold, CompleteOnClaim],
        snapshots: true,
        effects: true,
        ..small()
    };
    let never = [&BY_INTERVENTION[..], &[Rule::T4, Rule::T6]].concat();
    is_sound("one key, effects, held", setting, &never);
}

/// All promises are kept, and all rules but these were followed.
fn is_sound(title: &str, setting: Setting, never: &[Rule]) {
    let Found { worlds, rules, broken } = search_all(title, setting);
    assert!(broken.is_empty(), "{broken:#?}");
    let followed: Vec<Rule> = rules.into_keys().collect();
    let expected: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| !never.contains(rule)).collect();
    assert_eq!(followed, expected);
    assert!(worlds > 10_000, "only {worlds} worlds");
}
