//! The check itself: configuration, headers, time, signature, in this order. Nothing is parsed that is not signed.

use alloc::vec::Vec;

use super::fault::Fault;
use super::grammar::{self, Signatures};
use super::scheme::{EmptyBody, HeaderFamily, Part, Scheme};
use super::timestamp;
use super::{Request, Verified, mac};
use crate::header::Headers;
use crate::secret::{self, Key};
use crate::vocabulary::Refusal;

/// One way of signing, and what the messages call the signer.
pub(super) struct Sender<'a> {
    pub(super) name: &'a str,
    pub(super) scheme: Scheme<'a>,
    /// Headers that may carry the event id, signed or not.
    pub(super) id_headers: Vec<&'a str>,
}

pub(super) fn verify<'a>(
    sender: &Sender<'a>,
    request: &Request<'_>,
    secrets: &[&[u8]],
) -> Result<Verified<'a>, Refusal> {
    let tolerance_ms = match sender.scheme.timestamp {
        Some(timestamp) => timestamp::tolerance(timestamp, request.tolerance_ms)?,
        None => 0,
    };
    let keys = read_keys(sender, secrets)?;
    judge(sender, request, &keys, tolerance_ms).map_err(Fault::refusal)
}

fn judge<'a>(
    sender: &Sender<'a>,
    request: &Request<'_>,
    keys: &[Key],
    tolerance_ms: u64,
) -> Result<Verified<'a>, Fault<'a>> {
    let scheme = &sender.scheme;
    if request.body.is_empty() && scheme.empty_body == EmptyBody::Refuse {
        return Err(Fault::BodyEmpty);
    }
    for name in &sender.id_headers {
        single_id(request.headers, name)?;
    }
    let (family, value) = choose_family(scheme.families, request.headers)?;
    let signatures = grammar::read(scheme, family.signature, value)?;
    let time = signed_time(family, &signatures, request.headers)?;
    let id = signed_id(scheme, family, request.headers)?;
    let signed_at_ms = match (scheme.timestamp, time) {
        (Some(timestamp), Some(text)) => Some(timestamp::check(text, timestamp.unit, request.now_ms, tolerance_ms)?),
        _ => None,
    };

    let mut content = Vec::new();
    for part in scheme.content {
        content.push(bytes(*part, request.body, time, id));
    }
    let secret_index = matching_key(scheme, keys, &signatures, &content).ok_or(Fault::SignatureMismatch)?;
    Ok(Verified {
        scheme: scheme.name,
        secret_index,
        signed_at_ms,
        weak: scheme.is_weak(),
    })
}

/// Every secret has to be a good one: an empty one in the list would let anyone sign.
fn read_keys(sender: &Sender<'_>, secrets: &[&[u8]]) -> Result<Vec<Key>, Refusal> {
    if secrets.is_empty() {
        return Err(secret::missing(sender.name));
    }
    let mut keys = Vec::new();
    for text in secrets {
        keys.push(Key::parse(text, sender.scheme.secret, sender.name)?);
    }
    Ok(keys)
}

/// The family whose signature header is there. Another family's headers may stand beside it only if they say the same:
/// otherwise the signature could be checked with one id and the event claimed under the other.
fn choose_family<'a, 'h>(
    families: &'a [HeaderFamily<'a>],
    headers: Headers<'h>,
) -> Result<(&'a HeaderFamily<'a>, &'h str), Fault<'a>> {
    let mut chosen = None;
    for family in families {
        if let (None, Some(value)) = (chosen, single(headers, family.signature)?) {
            chosen = Some((family, value));
        }
    }
    let missing = families.first().map_or("", |family| family.signature);
    let (family, value) = chosen.ok_or(Fault::SignatureMissing(missing))?;
    for other in families.iter().filter(|other| *other != family) {
        let roles = [
            (Some(other.signature), Some(family.signature)),
            (other.timestamp, family.timestamp),
            (other.id, family.id),
        ];
        for (theirs, ours) in roles {
            let Some(name) = theirs else { continue };
            let value = single(headers, name)?;
            let expected = if let Some(ours) = ours {
                single(headers, ours)?
            } else {
                None
            };
            if value.is_some() && value != expected {
                return Err(Fault::Contradicting(name));
            }
        }
    }
    Ok((family, value))
}

fn signed_time<'a, 'h>(
    family: &HeaderFamily<'a>,
    signatures: &Signatures<'h>,
    headers: Headers<'h>,
) -> Result<Option<&'h str>, Fault<'a>> {
    let Some(name) = family.timestamp else {
        return Ok(signatures.timestamp);
    };
    match single(headers, name)? {
        None => Err(Fault::TimestampMissing(name)),
        text => Ok(text),
    }
}

/// The id that is part of the signed content, where there is one.
fn signed_id<'a, 'h>(
    scheme: &Scheme<'_>,
    family: &HeaderFamily<'a>,
    headers: Headers<'h>,
) -> Result<Option<&'h str>, Fault<'a>> {
    let Some(name) = family.id.filter(|_| scheme.content.contains(&Part::Id)) else {
        return Ok(None);
    };
    let id = single_id(headers, name)?.ok_or(Fault::IdMissing(name))?;
    if touches_its_neighbours(scheme.content, id) {
        Err(Fault::IdAmbiguous(name))
    } else {
        Ok(Some(id))
    }
}

fn single<'a, 'h>(headers: Headers<'h>, name: &'a str) -> Result<Option<&'h str>, Fault<'a>> {
    headers.single(name).map_err(|fault| Fault::of_header(name, fault))
}

fn single_id<'a, 'h>(headers: Headers<'h>, name: &'a str) -> Result<Option<&'h str>, Fault<'a>> {
    headers.single_id(name).map_err(|fault| Fault::of_header(name, fault))
}

/// True where the id could end elsewhere: `id.time.body` with a `.` in the id can be cut at another `.`, and the same
/// signature then stands for another id and another body.
fn touches_its_neighbours(content: &[Part<'_>], id: &str) -> bool {
    content.windows(2).any(|pair| match *pair {
        [Part::Id, Part::Text(after)] => !stands_once(after, &[id, after].concat()),
        [Part::Text(before), Part::Id] => !stands_once(before, &[before, id].concat()),
        _ => false,
    })
}

fn stands_once(part: &str, text: &str) -> bool {
    let places = text.as_bytes().windows(part.len().max(1));
    places.filter(|place| *place == part.as_bytes()).count() == 1
}

fn bytes<'b>(part: Part<'b>, body: &'b [u8], time: Option<&'b str>, id: Option<&'b str>) -> &'b [u8] {
    match part {
        Part::Body => body,
        Part::Timestamp => time.unwrap_or_default().as_bytes(),
        Part::Id => id.unwrap_or_default().as_bytes(),
        Part::Text(text) => text.as_bytes(),
    }
}

/// Any signature against any secret.
fn matching_key(scheme: &Scheme<'_>, keys: &[Key], signatures: &Signatures<'_>, content: &[&[u8]]) -> Option<usize> {
    keys.iter().position(|key| {
        scheme
            .labels
            .iter()
            .filter(|label| key.fits(label.algorithm))
            .any(|label| {
                let same = signatures
                    .candidates
                    .iter()
                    .filter(|candidate| candidate.algorithm == label.algorithm);
                let tags: Vec<&[u8]> = same.map(|candidate| candidate.signature.as_slice()).collect();
                !tags.is_empty() && mac::any_is_valid(key, label.algorithm, content, &tags)
            })
    })
}
