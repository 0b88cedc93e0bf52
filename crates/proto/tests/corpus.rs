//! Replays every file of the fuzz corpus, and every input that ever crashed a target.

#[path = "../../../fuzz/src/properties.rs"]
mod properties;

use std::path::Path;

/// How many changed versions of each file are tried as well.
const CHANGED: u64 = 200;

/// The same bytes with some changed, left out or put in: always the same for one seed.
fn changed(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut roll = |sides: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % sides.max(1)
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..=roll(4) {
        let at = roll(bytes.len());
        match roll(4) {
            0 if !bytes.is_empty() => bytes[at] = roll(256) as u8,
            1 if !bytes.is_empty() => bytes[at] ^= 1 << roll(8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => bytes.insert(at, roll(256) as u8),
        }
    }
    bytes
}

fn replay_changed(target: &str, property: fn(&[u8])) {
    replay(target, property);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    for file in std::fs::read_dir(folder).expect("the corpus") {
        let path = file.expect("the folder can be listed").path();
        let bytes = std::fs::read(&path).expect("the file can be read");
        for seed in 1..=CHANGED {
            println!("{}, changed by {seed}", path.display());
            property(&changed(&bytes, seed));
        }
    }
}

fn replay(target: &str, property: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut count = 0;
    for folder in ["corpus", "crashes"] {
        let Ok(files) = std::fs::read_dir(fuzz.join(folder).join(target)) else { continue };
        for file in files {
            let path = file.expect("the folder can be listed").path();
            let bytes = std::fs::read(&path).expect("the file can be read");
            println!("{}: {} bytes", path.display(), bytes.len());
            property(&bytes);
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} inputs for {target}");
}

#[test]
fn head() {
    replay("head", properties::head);
}

#[test]
fn chunked() {
    replay("chunked", properties::chunked);
}

#[test]
fn target() {
    replay("target", properties::target);
}

#[test]
fn range() {
    replay("range", properties::range);
}

#[test]
fn date() {
    replay("date", properties::date);
}

#[test]
fn h2_frame() {
    replay_changed("h2_frame", properties::h2_frame);
}

#[test]
fn hpack() {
    replay_changed("hpack", properties::hpack);
}

#[test]
fn h2_connection() {
    replay_changed("h2_connection", properties::h2_connection);
}
