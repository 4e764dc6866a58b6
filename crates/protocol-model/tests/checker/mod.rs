//! A world as `stateright` wants it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol_model::flaw::{Flaw, Rules};
use protocol_model::promise::Promise;
use protocol_model::reference::{Terms, Unfinished};
use protocol_model::world::{Action, Setting, World};
use stateright::{Checker as _, HasDiscoveries, Model, Property};

/// A lease and a backoff of one tick, two attempts: enough for every rule.
pub(crate) const TERMS: Terms = Terms {
    lease: 1,
    backoff: 1,
    max_attempts: 2,
};

/// One key, two workers, one request at a time, all the rest turned off.
pub(crate) fn small() -> Setting {
    Setting {
        rules: Rules {
            terms: TERMS,
            flaw: None,
        },
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
    /// Steps between them.
    pub(crate) steps: usize,
    /// The longest shortest way to a world.
    pub(crate) depth: usize,
    pub(crate) time: Duration,
    /// How often each rule was followed.
    pub(crate) rules: BTreeMap<&'static str, u64>,
    /// A schedule that breaks a promise, for each that was seen broken.
    pub(crate) broken: BTreeMap<Promise, Vec<Action>>,
}

/// Visits every world that can be reached.
pub(crate) fn search_all(setting: Setting) -> Found {
    search(setting, &HasDiscoveries::All)
}

/// The same with a flaw in it, until one of the promises is broken.
pub(crate) fn search_flawed(setting: Setting, flaw: Flaw) -> Found {
    let rules = Rules {
        flaw: Some(flaw),
        ..setting.rules
    };
    search(Setting { rules, ..setting }, &HasDiscoveries::AnyFailures)
}

fn search(setting: Setting, until: &HasDiscoveries) -> Found {
    let began = Instant::now();
    let rules = Arc::default();
    let search = Search {
        setting,
        rules: Arc::clone(&rules),
    };
    let checker = search
        .checker()
        .finish_when(until.clone())
        .target_state_count(20_000_000)
        .spawn_bfs()
        .join();
    let broken = Promise::ALL.into_iter().filter_map(|promise| {
        let path = checker.discovery(name(promise))?;
        Some((promise, path.into_actions()))
    });
    Found {
        broken: broken.collect(),
        worlds: checker.unique_state_count(),
        steps: checker.state_count(),
        depth: checker.max_depth(),
        time: began.elapsed(),
        rules: rules.lock().unwrap().clone(),
    }
}

struct Search {
    setting: Setting,
    rules: Arc<Mutex<BTreeMap<&'static str, u64>>>,
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
        *self.rules.lock().unwrap().entry(step.rule).or_default() += 1;
        Some(step.world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        use Promise as P;
        macro_rules! kept {
            ($($promise:ident),+ $(,)?) => {
                vec![$(Property::always(name(P::$promise), |search: &Self, world| {
                    search.setting.keeps(world, P::$promise)
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
            EveryClaimCanEnd,
        ]
    }
}

fn name(promise: Promise) -> &'static str {
    match promise {
        Promise::OneLiveOwner => "one live owner",
        Promise::OldReceiptWritesNothing => "an old receipt writes nothing",
        Promise::FencesGrow => "fences grow",
        Promise::EndedStaysEnded => "ended stays ended",
        Promise::NoClaimFromUnknown => "no claim from an unknown",
        Promise::LostClaimIsReentrant => "a lost claim is reentrant",
        Promise::LostEndIsAlready => "a lost end is already",
        Promise::AttemptsAreLimited => "attempts are limited",
        Promise::LiveRecordsStay => "live records stay",
        Promise::EffectHappensOnce => "the effect happens once",
        Promise::EveryClaimCanEnd => "every claim can end",
    }
}
