//! Header blocks as text files in `hpack/`: bytes, and the fields that they stand for. What comes
//! out is encoded by our own encoder as well, and has to come out again.
//!
//! A file holds cases with an empty line between them. Their lines, by how they begin:
//!
//! ```text
//! # text        what this shows
//! @ new 256     the cases from here on have new tables, of that size; 4096 if none is given
//! > hex         a header block
//! name: value   the fields in it, all of them, in order
//! !             it cannot be decoded; what follows has new tables
//! ```

use serval_proto::h2::hpack::{Decoder, Encoder, Failure};
use serval_proto::h2::section::{Pseudo, Section, SectionLimits};
use std::path::Path;

const PSEUDO: [(&str, Pseudo); 5] = [
    (":status", Pseudo::Status),
    (":method", Pseudo::Method),
    (":scheme", Pseudo::Scheme),
    (":authority", Pseudo::Authority),
    (":path", Pseudo::Path),
];

/// The fields in words, sorted: where among them a pseudo-header field was is not kept.
fn fields(section: &Section) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut lines: Vec<String> = PSEUDO
        .iter()
        .filter_map(|(name, pseudo)| Some(format!("{name}: {}", text(section.pseudo(*pseudo)?))))
        .collect();
    lines.sort();
    lines.extend(section.fields().lines().map(|l| format!("{}: {}", text(l.name), text(l.value))));
    lines
}

struct Ends {
    decoder: Decoder,
    our_encoder: Encoder,
    our_decoder: Decoder,
    section: Section,
}

impl Ends {
    fn new(size: usize) -> Ends {
        let (decoder, our_decoder) = (Decoder::new(size), Decoder::new(size));
        Ends { decoder, our_encoder: Encoder::new(), our_decoder, section: Section::new() }
    }

    fn check(&mut self, place: &str, block: &[u8], expected: &[&str]) {
        let limits = SectionLimits::default();
        let outcome = self.decoder.decode(block, &limits, &mut self.section);
        assert_eq!(outcome, Ok(()), "{place}");
        let mut sorted: Vec<&str> = expected.to_vec();
        let pseudo = sorted.iter().take_while(|line| line.starts_with(':')).count();
        sorted[..pseudo].sort_unstable();
        assert_eq!(fields(&self.section), sorted, "{place}");
        self.encode_again(place, expected, &sorted);
        // Cut anywhere, it is not the same block.
        for cut in 0..block.len() {
            let outcome = Decoder::new(4096).decode(&block[..cut], &limits, &mut self.section);
            let same = outcome == Ok(()) && fields(&self.section) == sorted;
            assert!(!same, "{place}, cut at {cut}");
        }
    }

    fn encode_again(&mut self, place: &str, expected: &[&str], sorted: &[&str]) {
        let mut again = Vec::new();
        self.our_encoder.begin(&mut again);
        for line in expected {
            let (name, value) = line[1..].split_once(": ").expect("a colon");
            self.our_encoder.field(&line[..name.len() + 1], value.as_bytes(), &mut again);
        }
        let outcome = self.our_decoder.decode(&again, &SectionLimits::default(), &mut self.section);
        assert_eq!(outcome, Ok(()), "{place}, encoded again");
        assert_eq!(fields(&self.section), sorted, "{place}, encoded again");
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hexadecimal digits");
    (0..hex.len()).step_by(2).map(digit).collect()
}

#[test]
fn every_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hpack");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = file.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("cases in UTF-8");
        let mut ends = Ends::new(4096);
        for case in text.split("\n\n") {
            let mut block = None;
            let mut lines = Vec::new();
            for line in case.lines().filter(|line| !line.starts_with('#')) {
                match line.split_once(' ') {
                    Some(("@", rest)) => {
                        let size = rest.trim_start_matches("new").trim();
                        ends = Ends::new(size.parse().unwrap_or(4096));
                    }
                    Some((">", hex)) => block = Some(bytes(hex)),
                    _ if !line.is_empty() => lines.push(line),
                    _ => {}
                }
            }
            let Some(block) = block else { continue };
            count += 1;
            let place = format!("{}: {case}", path.display());
            if lines == ["!"] {
                let limits = SectionLimits::default();
                let outcome = ends.decoder.decode(&block, &limits, &mut ends.section);
                assert_eq!(outcome, Err(Failure::Undecodable), "{place}");
                ends = Ends::new(4096);
            } else {
                ends.check(&place, &block, &lines);
            }
        }
    }
    assert!(count >= 110, "only {count} cases");
}

#[test]
fn limits_are_kept_and_the_tables_stay_alike() {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new(4096));
    let mut section = Section::new();
    let limits = SectionLimits { bytes_max: 1000, fields_max: 4 };
    let mut block = Vec::new();
    for number in 0..8 {
        encoder.field("cookie", format!("crumb-of-a-long-cookie={number}").as_bytes(), &mut block);
    }
    assert_eq!(decoder.decode(&block, &limits, &mut section), Ok(()));
    assert!(section.is_too_large(), "each crumb counts");
    assert!(section.fields().lines().count() <= 4);
    block.clear();
    encoder.field("cookie", b"crumb-of-a-long-cookie=7", &mut block);
    assert_eq!((block.len(), decoder.decode(&block, &limits, &mut section)), (1, Ok(())));
    assert_eq!(fields(&section), ["cookie: crumb-of-a-long-cookie=7"]);

    // One byte that stands for a whole table, again and again.
    block.clear();
    encoder.field("x", &[b'a'; 900], &mut block);
    block.resize(block.len() + 1000, 0x80 | 62);
    assert_eq!(decoder.decode(&block, &limits, &mut section), Err(Failure::Bomb));
    assert!(section.memory_bytes() < 8 << 10);
    assert!(decoder.memory_bytes() < 24 << 10);
}
