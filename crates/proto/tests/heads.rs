//! Message heads as text files in `heads/`: what comes in, and what the parser makes of it. Each
//! case is also tried cut at every byte, and behind itself as in a pipeline.
//!
//! A file holds cases with an empty line between them. Their lines, by how they begin:
//!
//! ```text
//! # text        what this shows
//! @ HEAD        the response is one to HEAD; else it is one to GET
//! > text        bytes of a request's head
//! < text        bytes of a response's head
//! & text        bytes that come behind it and are not of it
//! = text        what is read: for a request its method, target, version, body and whether the
//!               connection is kept; for a response its version, status, phrase and the same
//! + name: value its field lines, all of them, in order
//! ! Name        it is refused, for this reason
//! ...           there is not all of it yet
//! ```
//!
//! How bytes are written is said in `notation/mod.rs`.

mod notation;

use serval_proto::field::{FieldTable, Fields};
use serval_proto::h1::Refusal;
use serval_proto::h1::head::{self, Limits, Version};
use serval_proto::method::Method;
use std::path::{Path, PathBuf};

/// A longer input is cut at some places, not at all.
const CUTS: usize = 600;

#[derive(Debug, Default)]
struct Case {
    place: String,
    is_response: bool,
    to_head: bool,
    head: Vec<u8>,
    behind: Vec<u8>,
    expected: String,
}

/// A head in words, and its length; nothing while it is incomplete.
type Outcome = Result<Option<(String, usize)>, Refusal>;

#[test]
fn every_case() {
    let cases = cases();
    assert!(cases.len() >= 80, "only {} cases", cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|case| case.run().err()).collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

impl Case {
    fn run(&self) -> Result<(), String> {
        let input = [&self.head[..], &self.behind].concat();
        let outcome = self.parse(&input);
        let found = match &outcome {
            Ok(None) => "...".to_owned(),
            Err(refusal) => format!("! {refusal:?}"),
            Ok(Some((text, _))) => text.clone(),
        };
        if found != self.expected {
            return Err(format!("{}:\n{}\nand not\n{found}", self.place, self.expected));
        }
        if let Ok(Some((_, length))) = outcome
            && length != self.head.len()
        {
            return Err(format!("{}: it took {length} of {}", self.place, self.head.len()));
        }
        self.cut(&input, &outcome)?;
        self.pipeline(&outcome)
    }

    /// A part is either incomplete or what the whole is.
    fn cut(&self, input: &[u8], whole: &Outcome) -> Result<(), String> {
        for at in (0..input.len()).step_by(input.len() / CUTS + 1) {
            let part = self.parse(&input[..at]);
            if part != Ok(None) && part != *whole {
                return Err(format!("{}, cut at {at}: {part:?} and not {whole:?}", self.place));
            }
            if part == Ok(None) && at >= self.head.len() && whole.is_ok() && *whole != Ok(None) {
                return Err(format!("{}, cut at {at}: incomplete", self.place));
            }
        }
        Ok(())
    }

    /// Three in a row are read one after the other.
    fn pipeline(&self, whole: &Outcome) -> Result<(), String> {
        let Ok(Some((_, length))) = whole else { return Ok(()) };
        let row = self.head.repeat(3);
        for number in 0..3 {
            let next = self.parse(&row[number * length..]);
            if next != *whole {
                return Err(format!("{}, number {number} in a row: {next:?}", self.place));
            }
        }
        Ok(())
    }

    fn parse(&self, bytes: &[u8]) -> Outcome {
        let (mut table, limits) = (FieldTable::new(), Limits::default());
        if self.is_response {
            let method = if self.to_head { Method::Head } else { Method::Get };
            let head = head::parse_response(bytes, &mut table, &limits, method)?;
            return Ok(head.map(|head| {
                let (version, status) = (name(head.version), head.status.0);
                let reason = head.reason.escape_ascii();
                let start = format!("{version} {status} {reason} {:?}", head.framing);
                (summary(&start, head.persistent, &head.fields), head.length)
            }));
        }
        let head = head::parse_request(bytes, &mut table, &limits)?;
        Ok(head.map(|head| {
            let (method, target) =
                (head.method_text.escape_ascii(), head.target_text.escape_ascii());
            let start = format!("{method} {target} {} {:?}", name(head.version), head.framing);
            (summary(&start, head.persistent, &head.fields), head.length)
        }))
    }
}

fn name(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    }
}

fn summary(start: &str, persistent: bool, fields: &Fields<'_>) -> String {
    let mut text = format!("= {start} {}", if persistent { "kept" } else { "closed" });
    for line in fields.lines() {
        text += &format!("\n+ {}: {}", line.name.escape_ascii(), line.value.escape_ascii());
    }
    text
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/heads");
    let entries = std::fs::read_dir(folder).expect("the folder of cases");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.iter().flat_map(|path| read(path)).collect()
}

/// The cases in one file.
fn read(path: &Path) -> Vec<Case> {
    let file = path.file_name().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("cases in UTF-8");
    let mut cases = Vec::new();
    let mut case = Case::default();
    for (number, line) in text.lines().chain([""]).enumerate() {
        if line.is_empty() {
            if !case.expected.is_empty() {
                cases.push(std::mem::take(&mut case));
            }
            continue;
        }
        if case.place.is_empty() {
            case.place = format!("{file}:{}", number + 1);
        }
        case.take(line);
    }
    cases
}

impl Case {
    fn take(&mut self, line: &str) {
        let (mark, text) = line.split_at(2.min(line.len()));
        match mark {
            "# " => {}
            "> " => self.head.extend(notation::bytes(text, &notation::no_names)),
            "< " => {
                self.is_response = true;
                self.head.extend(notation::bytes(text, &notation::no_names));
            }
            "& " => self.behind.extend(notation::bytes(text, &notation::no_names)),
            "@ " if text == "HEAD" => self.to_head = true,
            "= " | "! " | ".." => self.expected = line.to_owned(),
            "+ " => self.expected += &format!("\n{line}"),
            _ => panic!("{}: what is {line:?}?", self.place),
        }
    }
}
