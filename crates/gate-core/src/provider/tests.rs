use super::*;

#[test]
fn keys_are_unique_and_names_in_order() {
    for pair in PROVIDERS.windows(2) {
        let [first, second] = pair else { continue };
        assert!(
            first.display_name < second.display_name,
            "{} stands before {}",
            first.display_name,
            second.display_name
        );
    }
    for provider in PROVIDERS {
        assert_eq!(
            PROVIDERS.iter().filter(|other| other.key == provider.key).count(),
            1,
            "{}",
            provider.key
        );
        assert!(
            provider.key.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'),
            "{}",
            provider.key
        );
        assert_ne!(provider.key, "custom", "`custom` is the user's own scheme");
    }
}

#[test]
fn every_row_is_whole() {
    for provider in PROVIDERS {
        let Some(scheme) = provider.scheme else { continue };
        assert!(
            !scheme.is_weak(),
            "{}: say so in the output before adding a scheme that leaves the body free",
            provider.key
        );
        assert!(
            !scheme.labels.is_empty() && !scheme.families.is_empty(),
            "{}",
            provider.key
        );
        assert!(provider.docs_url.starts_with("https://"), "{}", provider.key);
        for family in scheme.families {
            let names = [Some(family.signature), family.timestamp, family.id];
            assert!(
                names
                    .into_iter()
                    .flatten()
                    .all(|name| name == name.to_ascii_lowercase()),
                "{}",
                provider.key
            );
        }
        let time_is_signed = scheme.content.contains(&Part::Timestamp);
        assert_eq!(
            scheme.timestamp.is_some(),
            time_is_signed,
            "{}: an unsigned time proves nothing",
            provider.key
        );
    }
}

#[test]
fn a_signed_id_is_in_the_signed_content() {
    for provider in PROVIDERS.iter().filter(|provider| provider.id_signed) {
        let content = provider.scheme.unwrap().content;
        for field in provider.event_id {
            let part = if matches!(field, Field::Header(_)) {
                Part::Id
            } else {
                Part::Body
            };
            assert!(content.contains(&part), "{}: {field}", provider.key);
        }
    }
}

#[test]
fn the_words_for_people_follow_from_the_data() {
    let stripe = Provider::find("stripe").unwrap();
    assert_eq!(stripe.signed_content(), "timestamp.body");
    assert_eq!(stripe.id_from().as_deref(), Some("body.id"));
    assert!(!stripe.guard_body());
    let github = Provider::find("github").unwrap();
    assert_eq!(github.id_from().as_deref(), Some("header x-github-delivery"));
    assert!(github.guard_body());
    let none = Provider::find("none").unwrap();
    assert_eq!(
        (none.signed_content().as_str(), none.id_from(), none.guard_body()),
        ("", None, false)
    );
    assert!(Provider::find("stripe ").is_none());
}
