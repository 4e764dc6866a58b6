//! Our decoders against the crate `base64ct`, which is strict too.

use base64ct::{Base64, Base64Unpadded, Base64Url, Base64UrlUnpadded, Encoding as _};
use gate_core::encoding::{Encoding, from_base64, from_hex, to_hex};
use proptest::prelude::*;

/// Texts of the right characters and nearly the right form: random ones would almost never be Base64.
fn nearly_base64() -> impl Strategy<Value = String> {
    "[A-Za-z0-9+/_=-]{0,12}={0,3}"
}

proptest! {
    #[test]
    fn base64_is_read_as_base64ct_reads_it(text in nearly_base64()) {
        let padded = Base64::decode_vec(&text).ok();
        prop_assert_eq!(Encoding::Base64.decode(&text), padded.clone());
        prop_assert_eq!(from_base64(&text), padded.or_else(|| Base64Unpadded::decode_vec(&text).ok()));
        let url = Base64Url::decode_vec(&text).ok().or_else(|| Base64UrlUnpadded::decode_vec(&text).ok());
        prop_assert_eq!(Encoding::Base64Url.decode(&text), url);
    }

    #[test]
    fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        prop_assert_eq!(from_hex(&to_hex(&bytes)), Some(bytes.clone()));
        prop_assert_eq!(Encoding::Base64.decode(&Base64::encode_string(&bytes)), Some(bytes.clone()));
        prop_assert_eq!(from_base64(&Base64Unpadded::encode_string(&bytes)), Some(bytes.clone()));
        prop_assert_eq!(Encoding::Base64Url.decode(&Base64UrlUnpadded::encode_string(&bytes)), Some(bytes));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        for encoding in [Encoding::Hex, Encoding::Base64, Encoding::Base64Url] {
            let _ = encoding.decode(&text);
        }
    }
}
