//! The check itself: configuration, headers, time, signature, in this order. Nothing is parsed that is not signed.

use super::grammar::{self, Signatures};
use super::scheme::{EmptyBody, HeaderFamily, Part, Scheme};
use super::timestamp;
use super::{Request, Verified, mac};
use crate::header::{HeaderFault, Headers};
use crate::secret::{self, Key};
use crate::vocabulary::{Refusal, RejectionCode};

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
    let scheme = &sender.scheme;
    let tolerance_ms = scheme
        .timestamp
        .map(|t| timestamp::tolerance(t, request.tolerance_ms))
        .transpose()?;
    let keys = read_keys(sender, secrets)?;

    if request.body.is_empty() && scheme.empty_body == EmptyBody::Refuse {
        return Err(body_empty(sender.name));
    }
    for name in &sender.id_headers {
        request.headers.single_id(name).map_err(|fault| refuse(fault, name))?;
    }
    let (family, value) = choose_family(scheme.families, request.headers)?;
    let signatures = grammar::read(scheme, family.signature, value)?;
    let time = signed_time(family, &signatures, request.headers)?;
    let id = signed_id(scheme, family, request.headers)?;
    let signed_at_ms = match (scheme.timestamp, tolerance_ms, time) {
        (Some(t), Some(tolerance_ms), Some(text)) => {
            Some(timestamp::check(text, t.unit, request.now_ms, tolerance_ms)?)
        }
        _ => None,
    };

    let content: Vec<&[u8]> = scheme
        .content
        .iter()
        .map(|part| bytes(*part, request.body, time, id))
        .collect();
    let secret_index = matching_key(scheme, &keys, &signatures, &content).ok_or_else(mismatch)?;
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
) -> Result<(&'a HeaderFamily<'a>, &'h str), Refusal> {
    let read = |name: &str| headers.single(name).map_err(|fault| refuse(fault, name));
    let mut chosen = None;
    for family in families {
        if let (None, Some(value)) = (chosen, read(family.signature)?) {
            chosen = Some((family, value));
        }
    }
    let (family, value) = chosen.ok_or_else(|| signature_missing(families))?;
    for other in families.iter().filter(|other| *other != family) {
        let roles = [
            (Some(other.signature), Some(family.signature)),
            (other.timestamp, family.timestamp),
            (other.id, family.id),
        ];
        for (theirs, ours) in roles {
            let Some(name) = theirs else { continue };
            let value = read(name)?;
            if value.is_some() && value != ours.map(read).transpose()?.flatten() {
                return Err(contradicting(name));
            }
        }
    }
    Ok((family, value))
}

fn signed_time<'h>(
    family: &HeaderFamily<'_>,
    signatures: &Signatures<'h>,
    headers: Headers<'h>,
) -> Result<Option<&'h str>, Refusal> {
    let Some(name) = family.timestamp else {
        return Ok(signatures.timestamp);
    };
    match headers.single(name).map_err(|fault| refuse(fault, name))? {
        None => Err(grammar::timestamp_missing(name)),
        text => Ok(text),
    }
}

/// The id that is part of the signed content, where there is one.
fn signed_id<'h>(
    scheme: &Scheme<'_>,
    family: &HeaderFamily<'_>,
    headers: Headers<'h>,
) -> Result<Option<&'h str>, Refusal> {
    let Some(name) = family.id.filter(|_| scheme.content.contains(&Part::Id)) else {
        return Ok(None);
    };
    let id = headers
        .single_id(name)
        .map_err(|fault| refuse(fault, name))?
        .ok_or_else(|| id_missing(name))?;
    if touches_its_neighbours(scheme.content, id) {
        Err(id_ambiguous(name))
    } else {
        Ok(Some(id))
    }
}

/// True where the id could end elsewhere: `id.time.body` with a `.` in the id can be cut at another `.`, and the same
/// signature then stands for another id and another body.
fn touches_its_neighbours(content: &[Part<'_>], id: &str) -> bool {
    content.windows(2).any(|pair| match *pair {
        [Part::Id, Part::Text(after)] => places(&[id, after].concat(), after).min() != Some(id.len()),
        [Part::Text(before), Part::Id] => places(&[before, id].concat(), before).max() != Some(0),
        _ => false,
    })
}

/// Where a text stands in another, overlapping places too.
fn places(text: &str, part: &str) -> impl Iterator<Item = usize> {
    let windows = text.as_bytes().windows(part.len().max(1)).enumerate();
    windows
        .filter(|(_, window)| *window == part.as_bytes())
        .map(|(at, _)| at)
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

fn refuse(fault: HeaderFault, name: &str) -> Refusal {
    match fault {
        HeaderFault::Repeated => grammar::repeated(name),
        HeaderFault::ControlCharacter => grammar::malformed(name),
    }
}

fn signature_missing(families: &[HeaderFamily<'_>]) -> Refusal {
    let name = families.first().map_or("", |family| family.signature);
    Refusal::rejected(
        RejectionCode::SignatureMissing,
        format!("The request has no header '{name}'"),
        "It does not come from the provider, or a proxy dropped the header. Check that 'Provider' names the sender.",
    )
}

fn contradicting(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::SignatureAmbiguous,
        format!("The header '{name}' contradicts the headers that the signature came with"),
        "The request mixes two sets of headers. Check for a proxy that adds headers.",
    )
}

fn mismatch() -> Refusal {
    Refusal::rejected(
        RejectionCode::SignatureMismatch,
        "The signature does not fit the body",
        "Check that the credential holds this endpoint's signing secret (test and live differ), that 'Raw Body' is on in the \
         Webhook node, and that nothing on the way changes the body.",
    )
}

fn body_empty(sender: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::BodyEmpty,
        "The request has no body",
        format!("{sender} always sends one. Set 'HTTP Method' of the Webhook node to POST, and turn on 'Raw Body'."),
    )
}

fn id_missing(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::EventIdMissing,
        format!("The request has no header '{name}'"),
        "The provider signs the event id, so a request without it cannot be checked. Check that a proxy passes all headers on.",
    )
}

fn id_ambiguous(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::EventIdInvalid,
        format!("The event id in the header '{name}' holds the separator of the signed text"),
        "Such an id could be cut in two places, so the signature would stand for two events. The request was not accepted.",
    )
}
