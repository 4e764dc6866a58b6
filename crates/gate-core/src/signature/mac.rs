//! Checking signatures over content that stays in slices: nothing is joined or copied before it is hashed.

use ed25519_dalek::{Signature, VerifyingKey};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::scheme::Algorithm;
use crate::secret::Key;

/// True where one of the signatures is right. All are of this algorithm and of its length.
///
/// Comparison is by hmac's own constant-time `verify_slice`. Which of several signatures matched is not a secret.
pub(super) fn any_is_valid(key: &Key, algorithm: Algorithm, content: &[&[u8]], signatures: &[&[u8]]) -> bool {
    match (key, algorithm) {
        (Key::Shared(key), Algorithm::HmacSha1) => any_mac::<Hmac<Sha1>>(key, content, signatures),
        (Key::Shared(key), Algorithm::HmacSha256) => any_mac::<Hmac<Sha256>>(key, content, signatures),
        (Key::Shared(key), Algorithm::HmacSha384) => any_mac::<Hmac<Sha384>>(key, content, signatures),
        (Key::Shared(key), Algorithm::HmacSha512) => any_mac::<Hmac<Sha512>>(key, content, signatures),
        (Key::Public(key), Algorithm::Ed25519) => signatures.iter().any(|&signature| ed25519(key, content, signature)),
        (Key::Shared(_), Algorithm::Ed25519) | (Key::Public(_), _) => false,
    }
}

/// The content is hashed once per key, however many signatures there are.
fn any_mac<M: Mac + KeyInit + Clone>(key: &[u8], content: &[&[u8]], signatures: &[&[u8]]) -> bool {
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else {
        return false;
    };
    for piece in content {
        mac.update(piece);
    }
    signatures
        .iter()
        .any(|signature| mac.clone().verify_slice(signature).is_ok())
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
