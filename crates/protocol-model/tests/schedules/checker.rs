//! A world as `stateright` wants it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use protocol_model::flaw::Rules;
use protocol_model::promise::Promise;
use protocol_model::reference::{Rule, Terms, Unfinished};
use protocol_model::world::{Action, Setting, World};
use stateright::{Checker as _, HasDiscoveries, Model, Property};

/// One key, two workers, one request on its way; a lease and a backoff of one tick and two attempts, enough for every
/// rule. All the rest is turned off.
pub(crate) fn small() -> Setting {
    let terms = Terms {
        lease: 1,
        backoff: 1,
        max_attempts: 2,
    };
    Setting {
        rules: Rules { terms, flaw: None },
        keys: 1,
        workers: 2,
        on_the_way: 1,
        unfinished: vec![Unfinished::TakeOver],
        snapshots: false,
        interventions: false,
        effects: false,
    }
}

/// What a search has found.
pub(crate) struct Found {
    /// Different worlds.
    pub(crate) worlds: usize,
    /// How often each rule was followed.
    pub(crate) rules: BTreeMap<Rule, u64>,
    /// A schedule that breaks a promise, for each that was seen broken.
    pub(crate) broken: BTreeMap<Promise, Vec<Action>>,
}

/// Visits every world that can be reached.
pub(crate) fn search_all(title: &str, setting: Setting) -> Found {
    let began = Instant::now();
    let (checker, rules) = search(setting, HasDiscoveries::All, None);
    let found = Found {
        worlds: checker.unique_state_count(),
        rules: rules.counts(),
        broken: Promise::ALL
            .into_iter()
            .filter_map(|promise| Some((promise, checker.discovery(name(promise))?.into_actions())))
            .collect(),
    };
    println!(
        "{title}: {} worlds, {} steps, up to {} in a row, {:.1?}",
        found.worlds,
        checker.state_count(),
        checker.max_depth(),
        began.elapsed()
    );
    found
}

/// A shortest schedule that breaks the promise. Deepens the search step by step and so ends only if there is one within
/// 30 steps; a whole search is for those that hold.
pub(crate) fn break_promise(setting: &Setting, promise: Promise) -> Option<Vec<Action>> {
    let until = BTreeSet::from([name(promise)]);
    (1..=30).find_map(|depth| {
        let (checker, _) = search(setting.clone(), HasDiscoveries::AllOf(until.clone()), Some(depth));
        Some(checker.discovery(name(promise))?.into_actions())
    })
}

fn search(setting: Setting, until: HasDiscoveries, depth: Option<usize>) -> (impl stateright::Checker<Search>, Counts) {
    let counts = Counts::default();
    let search = Search {
        setting,
        counts: counts.clone(),
    };
    let builder = search.checker().finish_when(until);
    let builder = match depth {
        Some(depth) => builder.target_max_depth(depth),
        None => builder,
    };
    (builder.spawn_bfs().join(), counts)
}

struct Search {
    setting: Setting,
    counts: Counts,
}

impl Model for Search {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![self.setting.start()]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        self.setting.actions(world, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let step = self.setting.step(world, action);
        self.counts.add(step.rule);
        Some(step.world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // A property is a function without a context, so each needs one of its own.
        macro_rules! kept {
            ($($promise:ident),+ $(,)?) => {
                vec![$(Property::always(name(Promise::$promise), |search: &Self, world| {
                    search.setting.keeps(world, Promise::$promise)
                })),+]
            };
        }
        kept![
            OneLiveOwner,
            OldReceiptWritesNothing,
            FencesGrow,
            EndedStaysEnded,
            NoClaimFromUnknown,
            LostClaimIsReentrant,
            LostEndIsAlready,
            AttemptsAreLimited,
            LiveRecordsStay,
            EffectHappensOnce,
            HeldGoesToAPerson,
            EveryClaimCanEnd,
        ]
    }
}

fn name(promise: Promise) -> &'static str {
    match promise {
        Promise::OneLiveOwner => "one live owner",
        Promise::OldReceiptWritesNothing => "an old receipt writes nothing",
        Promise::FencesGrow => "fences grow",
        Promise::EndedStaysEnded => "what has ended stays ended",
        Promise::NoClaimFromUnknown => "no claim from an unknown",
        Promise::LostClaimIsReentrant => "a lost claim is reentrant",
        Promise::LostEndIsAlready => "a lost end is known already",
        Promise::AttemptsAreLimited => "attempts are limited",
        Promise::LiveRecordsStay => "live records stay",
        Promise::EffectHappensOnce => "the effect happens once",
        Promise::HeldGoesToAPerson => "what is to be held goes to a person",
        Promise::EveryClaimCanEnd => "every claim can end",
    }
}

/// How often each rule was followed, over all steps tried.
#[derive(Clone, Default)]
struct Counts(Arc<[AtomicU64; Rule::ALL.len()]>);

impl Counts {
    fn add(&self, rule: Option<Rule>) {
        if let Some(count) = rule.and_then(|rule| self.0.get(rule as usize)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> BTreeMap<Rule, u64> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        Rule::ALL
            .into_iter()
            .zip(counts)
            .filter(|&(_, times)| times > 0)
            .collect()
    }
}
