//! Whole conversations, one a text file in `../conversations`, whose `README.txt` says how they are
//! written. Adding a case is adding a file.

use crate::client::{Answer, Body, Client};
use crate::notation;
use crate::server::Server;
use crate::site::Site;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Longer ones are not tried cut at every byte.
const CUT_BYTES_MAX: usize = 400;

/// At this many of the cuts the client waits, so that the server surely sees two pieces.
const PAUSES: usize = 4;

/// How many conversations are held at a time.
const PLAYERS: usize = 16;

/// What one file holds.
#[derive(Debug, Default)]
struct Conversation {
    name: String,
    has_404_page: bool,
    half_close: bool,
    sent: String,
    answers: Vec<Expected>,
    kept: Option<bool>,
}

/// What an answer has to be.
#[derive(Debug, Default)]
struct Expected {
    status_line: String,
    has: Vec<String>,
    lacks: Vec<String>,
    nothing_else: bool,
    no_body: bool,
    body: Option<String>,
    body_pattern: Option<String>,
}

/// How a conversation is held.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// All that is sent in one write.
    Whole,
    /// So many times all that is sent in one write.
    Times(usize),
    /// In two writes, with time for the server to see the first alone or without.
    Cut { at: usize, pause: bool },
}

/// Both sites and their servers.
#[derive(Debug)]
struct Scene {
    servers: [Server; 2],
    _sites: [Site; 2],
}

#[test]
fn as_they_are() {
    Scene::set("as-is").play(|_, _| vec![Way::Whole]);
}

#[test]
fn three_in_one_write() {
    Scene::set("pipelined").play(|_, conversation| match conversation.kept {
        Some(true) if !conversation.half_close => vec![Way::Times(3)],
        _ => Vec::new(),
    });
}

#[test]
fn cut_at_every_byte() {
    Scene::set("cut").play(|scene, conversation| match scene.sent(conversation).len() {
        length @ ..=CUT_BYTES_MAX => {
            let cut = |at| Way::Cut { at, pause: at % (length / PAUSES + 1) == 0 };
            (1..length).map(cut).collect()
        }
        _ => Vec::new(),
    });
}

#[test]
fn there_are_many() {
    assert!(conversations().len() >= 60);
}

impl Scene {
    fn set(name: &str) -> Scene {
        let sites = [Site::new(name), Site::with_404_page(name)];
        let servers = [0, 1].map(|index: usize| Server::start(&sites[index].folder(), &[]));
        Scene { servers, _sites: sites }
    }

    /// Tries every conversation in each of the ways that `ways` gives, several at a time, and tells
    /// of all that went wrong.
    fn play(&self, ways: impl Fn(&Scene, &Conversation) -> Vec<Way>) {
        let conversations = conversations();
        let mut tries = Vec::new();
        for conversation in &conversations {
            tries.extend(ways(self, conversation).into_iter().map(|way| (conversation, way)));
        }
        let next = AtomicUsize::new(0);
        let failures = Mutex::new(BTreeMap::new());
        let lock = || failures.lock().expect("nobody panics with it");
        let hold_next = || {
            let (conversation, way) = tries.get(next.fetch_add(1, Ordering::Relaxed))?;
            // The first of many cuts tells enough.
            if !lock().contains_key(&conversation.name)
                && let Err(error) = self.run(conversation, *way)
            {
                lock()
                    .insert(&conversation.name, format!("{}, {way:?}: {error}", conversation.name));
            }
            Some(())
        };
        std::thread::scope(|scope| {
            for _ in 0..PLAYERS {
                scope.spawn(|| while hold_next().is_some() {});
            }
        });
        let failures = failures.into_inner().expect("nobody panicked with it");
        let texts: Vec<String> = failures.into_values().collect();
        assert!(texts.is_empty(), "{} fail:\n{}", texts.len(), texts.join("\n"));
    }

    fn server(&self, conversation: &Conversation) -> &Server {
        &self.servers[usize::from(conversation.has_404_page)]
    }

    fn sent(&self, conversation: &Conversation) -> Vec<u8> {
        self.bytes(conversation, &conversation.sent)
    }

    fn bytes(&self, conversation: &Conversation, text: &str) -> Vec<u8> {
        let server = self.server(conversation);
        notation::bytes(text, &|name| match name.split_once(':') {
            Some(("etag", path)) => {
                let answer = Client::new(server.address()).get(path).expect("an answer");
                answer.field("ETag").expect("an entity tag").as_bytes().to_vec()
            }
            _ if name == "address" => server.address().to_string().into_bytes(),
            _ => panic!("{}: nothing is called {name:?}", conversation.name),
        })
    }

    /// Holds a conversation in one way.
    fn run(&self, conversation: &Conversation, way: Way) -> Result<(), String> {
        let times = if let Way::Times(times) = way { times } else { 1 };
        let sent = self.sent(conversation).repeat(times);
        let mut client = Client::new(self.server(conversation).address());
        let (first, second) = match way {
            Way::Cut { at, .. } => sent.split_at(at),
            Way::Whole | Way::Times(_) => (&sent[..], &[][..]),
        };
        let failed = |what: &str, error| format!("{what}: {error}");
        client.send(first).map_err(|error| failed("sending", error))?;
        if matches!(way, Way::Cut { pause: true, .. }) {
            std::thread::sleep(Duration::from_millis(3));
        }
        client.send(second).map_err(|error| failed("sending the rest", error))?;
        if conversation.half_close {
            client.end_writing();
        }
        for _ in 0..times {
            for expected in &conversation.answers {
                let body = if expected.no_body { Body::Never } else { Body::AsFramed };
                let answer = client.answer(body).map_err(|error| {
                    failed(&format!("instead of {:?}", expected.status_line), error)
                })?;
                self.check(conversation, expected, &answer)
                    .map_err(|error| format!("{error}\n  in {answer}"))?;
            }
        }
        if conversation.kept == Some(true) && !conversation.half_close {
            let request = "GET /hello.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            client.send(request).map_err(|error| failed("it is not kept", error))?;
            let answer = client.answer(Body::AsFramed);
            let answer = answer.map_err(|error| failed("it is not kept", error))?;
            if answer.body != b"hello, world\n" {
                return Err(format!("the next answer is wrong: {answer:?}"));
            }
        }
        match client.rest() {
            Ok(rest) if rest.is_empty() => Ok(()),
            Ok(rest) => Err(format!("more came: {:?}", String::from_utf8_lossy(&rest))),
            Err(error) => Err(failed("the end", error)),
        }
    }

    fn check(
        &self,
        conversation: &Conversation,
        expected: &Expected,
        answer: &Answer,
    ) -> Result<(), String> {
        if answer.status_line != expected.status_line {
            return Err(format!("not {:?}", expected.status_line));
        }
        let named = |name: &str| {
            answer.lines.iter().filter(move |line| is_named(line, name)).collect::<Vec<_>>()
        };
        for line in &expected.has {
            let line = self.bytes(conversation, line);
            let text = String::from_utf8_lossy(&line);
            let found = named(text.split(':').next().unwrap_or_default());
            if !matches!(found.as_slice(), [found] if matches(&line, found.as_bytes())) {
                return Err(format!("not {text:?} but {found:?}"));
            }
        }
        if let Some(name) = expected.lacks.iter().find(|name| !named(name).is_empty()) {
            return Err(format!("it has {name}"));
        }
        for name in ["Date", "Server"] {
            if named(name).len() != 1 {
                return Err(format!("it has not one {name}"));
            }
        }
        let lines = expected.has.len() + 2;
        if expected.nothing_else && answer.lines.len() != lines {
            return Err(format!("{} fields, not {lines}", answer.lines.len()));
        }
        let body = expected.body.as_ref().map(|body| self.bytes(conversation, body));
        if body.is_some_and(|body| body != answer.body) {
            return Err("the body is wrong".into());
        }
        let pattern = expected.body_pattern.as_ref().map(|text| self.bytes(conversation, text));
        if pattern.is_some_and(|pattern| !matches(&pattern, &answer.body)) {
            return Err(format!("the body is wrong: {}", String::from_utf8_lossy(&answer.body)));
        }
        Ok(())
    }
}

fn is_named(line: &str, name: &str) -> bool {
    line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name))
}

/// Whether `text` is `pattern`, in which each `*` stands for any bytes.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let found = (0..=rest.len()).find(|at| rest[*at..].starts_with(part));
        let Some(at) = found else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn patterns_match() {
    for (pattern, text, expected) in [
        ("a*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "abd", false),
        ("*", "", true),
        ("a", "ab", false),
        ("a*b*", "axby", true),
        ("a*b*b", "ab", false),
    ] {
        assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
    }
}

/// All that there are, in order.
fn conversations() -> Vec<Conversation> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conversations");
    let entries = std::fs::read_dir(folder).expect("the folder of conversations");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "http"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Conversation::read(path)).collect()
}

impl Conversation {
    fn read(path: &Path) -> Conversation {
        let text = std::fs::read_to_string(path).expect("a conversation in UTF-8");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut conversation = Conversation { name, ..Conversation::default() };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            conversation.take(line);
        }
        assert!(conversation.kept.is_some(), "{}: kept or closed?", conversation.name);
        conversation
    }

    fn take(&mut self, line: &str) {
        let (mark, text) = line.split_at(2.min(line.len()));
        let name = self.name.clone();
        let last = || panic!("{name}: no answer has begun before {line:?}");
        match (mark, text) {
            ("> ", _) => self.sent += text,
            ("< ", _) => {
                self.answers.push(Expected { status_line: text.into(), ..Expected::default() });
            }
            ("@ ", "site 404") => self.has_404_page = true,
            ("@ ", "half-close") => self.half_close = true,
            ("@ ", "kept") => self.kept = Some(true),
            ("@ ", "closed") => self.kept = Some(false),
            _ => {
                let answer = self.answers.last_mut().unwrap_or_else(last);
                match (mark, text) {
                    ("+ ", _) => answer.has.push(text.into()),
                    ("- ", _) => answer.lacks.push(text.into()),
                    ("=" | "= ", _) => answer.body.get_or_insert_default().push_str(text),
                    ("~ ", _) => answer.body_pattern.get_or_insert_default().push_str(text),
                    ("@ ", "nothing else") => answer.nothing_else = true,
                    ("@ ", "no body") => answer.no_body = true,
                    _ => panic!("{name}: what is {line:?}?"),
                }
            }
        }
    }
}
