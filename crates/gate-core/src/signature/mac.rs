//! Checking signatures over content that stays in slices: nothing is joined or copied before it is hashed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use ed25519_dalek::{Signature, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use subtle::ConstantTimeEq as _;

use super::scheme::Algorithm;
use crate::secret::Key;

/// True where one of the signatures is right. All are of this algorithm and of its length.
pub(super) fn any_is_valid(key: &Key, algorithm: Algorithm, content: &[&[u8]], signatures: &[&[u8]]) -> bool {
    match key {
        Key::Shared(key) => hmac(key, algorithm).is_some_and(|mac| any_mac(mac, content, signatures)),
        Key::Public(key) => {
            algorithm == Algorithm::Ed25519 && signatures.iter().any(|signature| ed25519(key, content, signature))
        }
    }
}

/// The content is hashed once per key, however many signatures there are.
fn any_mac(mut mac: Box<dyn Tag>, content: &[&[u8]], signatures: &[&[u8]]) -> bool {
    for piece in content {
        mac.feed(piece);
    }
    let tag = mac.tag();
    // In constant time. Which of several signatures matched is not a secret.
    signatures.iter().any(|signature| tag.ct_eq(signature).into())
}

/// The four HMACs behind one face, so that what uses them is compiled once.
trait Tag {
    fn feed(&mut self, piece: &[u8]);
    fn tag(self: Box<Self>) -> Vec<u8>;
}

impl<M: Mac> Tag for M {
    fn feed(&mut self, piece: &[u8]) {
        self.update(piece);
    }

    fn tag(self: Box<Self>) -> Vec<u8> {
        self.finalize().into_bytes().to_vec()
    }
}

fn hmac(key: &[u8], algorithm: Algorithm) -> Option<Box<dyn Tag>> {
    fn start<M: Mac + KeyInit + 'static>(key: &[u8]) -> Option<Box<dyn Tag>> {
        let mac = <M as KeyInit>::new_from_slice(key).ok()?;
        Some(Box::new(mac))
    }

    match algorithm {
        Algorithm::HmacSha1 => start::<Hmac<Sha1>>(key),
        Algorithm::HmacSha256 => start::<Hmac<Sha256>>(key),
        Algorithm::HmacSha384 => start::<Hmac<Sha384>>(key),
        Algorithm::HmacSha512 => start::<Hmac<Sha512>>(key),
        Algorithm::Ed25519 => None,
    }
}

/// As strict as `verify_strict`, but streaming: the key is known not to be weak (see [`Key::parse`]), `s` must be reduced,
/// and the recomputed `R` is compared as bytes, so it has to be canonical.
fn ed25519(key: &VerifyingKey, content: &[&[u8]], signature: &[u8]) -> bool {
    let Ok(signature) = Signature::from_slice(signature) else {
        return false;
    };
    let Ok(mut verifier) = key.verify_stream(&signature) else {
        return false;
    };
    for piece in content {
        verifier.update(piece);
    }
    verifier.finalize_and_verify().is_ok()
}

#[cfg(test)]
#[path = "mac_tests.rs"]
mod tests;
