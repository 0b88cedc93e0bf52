//! Replays every file of the fuzz corpus, and every input that ever crashed a target.

#[path = "../../../fuzz/src/properties.rs"]
mod properties;

use std::path::Path;

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
