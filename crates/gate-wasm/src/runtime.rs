//! What takes the place of the standard library: memory, and a note of where a panic happened.
//!
//! Without that library the module is 5 KB smaller, most of it what a panic needs to say more than where it was. That is not
//! wanted anyway: the message could quote a body.

use alloc::format;
use alloc::string::String;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static MEMORY: GlobalDlmalloc = GlobalDlmalloc;

/// Source file of the last panic, UTF-8, cut off where it is too long; behind its end stand zeros.
static FILE: [AtomicU8; 120] = [const { AtomicU8::new(0) }; 120];
static LINE: AtomicU32 = AtomicU32::new(0);

#[panic_handler]
fn note_and_trap(info: &PanicInfo<'_>) -> ! {
    if let Some(place) = info.location() {
        let file = place.file().bytes().chain(core::iter::repeat(0));
        FILE.iter().zip(file).for_each(|(kept, byte)| kept.store(byte, Relaxed));
        LINE.store(place.line(), Relaxed);
    }
    core::arch::wasm32::unreachable()
}

/// `file:line` of the last panic, or an empty text.
pub(crate) fn last_panic() -> String {
    let file = FILE.iter().map(|byte| byte.load(Relaxed)).take_while(|byte| *byte != 0);
    let file: String = file.map(char::from).collect();
    if file.is_empty() {
        return file;
    }
    format!("{file}:{}", LINE.load(Relaxed))
}
