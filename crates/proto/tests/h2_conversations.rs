//! Conversations with one end of an HTTP/2 connection, as text files in `h2/`: the frames that
//! come, what they mean to the caller, and the frames that leave. Each is also held with its input
//! cut at every byte.
//!
//! A file holds conversations with an empty line between them. Their lines, by how they begin:
//!
//! ```text
//! # text        what this shows
//! @ client      our end is a client that has sent three requests; else it is a server
//! @ bare        nothing has been said; else both ends have sent their settings
//! > FRAME       a frame comes
//! * call        the caller does something
//! = event       what the caller hears
//! < FRAME       a frame leaves
//! ! CODE        the connection has failed
//! ```
//!
//! Streams are named by their number. `GET 1 /` stands for a HEADERS frame with all that a request
//! needs. Fields follow a bar: `HEADERS 1 end | :status: 200`. What a frame or call can have behind
//! its name is said in [`frame`] and [`Conversation::call`].

mod notation;

use serval_proto::field::Fields;
use serval_proto::h2::error::ErrorCode;
use serval_proto::h2::frame::{self, Frame, HEAD_BYTES, Head, Kind, PREFACE, flag, write};
use serval_proto::h2::hpack::{Decoder, literal};
use serval_proto::h2::section::{Pseudo, Section, SectionLimits};
use serval_proto::h2::{Connection, Event, Key, Limits, Role};
use serval_proto::method::Method;
use serval_proto::status::Status;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

#[test]
fn every_conversation() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/h2");
    let (mut count, mut failures) = (0, Vec::new());
    let entries = std::fs::read_dir(folder).expect("the folder of conversations");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("conversations in UTF-8");
        for script in text.split("\n\n").map(str::trim).filter(|script| !script.is_empty()) {
            count += 1;
            for step in [usize::MAX, 1, 2, 5] {
                let held = Conversation::hold(script, step);
                if held != script {
                    failures.push(format!("{}, {step} at a time:\n{held}\n", path.display()));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "these went otherwise:\n\n{}", failures.join("\n"));
    assert!(count >= 60, "only {count} conversations");
}

/// One end, and what was heard of it.
struct Conversation {
    end: Connection,
    decoder: Decoder,
    section: Section,
    unread: Vec<u8>,
    keys: HashMap<u32, Key>,
    events: Vec<String>,
    now_ms: u64,
    has_failed: bool,
}

impl Conversation {
    /// Says what the script says, and writes down what really happens.
    fn hold(script: &str, step: usize) -> String {
        let is_client = script.contains("@ client");
        let role = if is_client { Role::Client } else { Role::Server };
        let mut this = Conversation {
            end: Connection::new(role, Limits::default(), 0),
            decoder: Decoder::new(4096),
            section: Section::new(),
            unread: Vec::new(),
            keys: HashMap::new(),
            events: Vec::new(),
            now_ms: 0,
            has_failed: false,
        };
        if !script.contains("@ bare") {
            this.begin(is_client);
        }
        let mut held = Vec::new();
        for line in script.lines() {
            match line.split_at(2.min(line.len())) {
                ("> ", text) => this.receive(&frame(text), step),
                ("* ", text) => this.call(text),
                ("= " | "< " | "! ", _) => continue,
                _ => {
                    held.push(line.to_owned());
                    continue;
                }
            }
            held.push(line.to_owned());
            held.append(&mut this.events);
        }
        held.join("\n")
    }

    /// Both ends say their settings.
    fn begin(&mut self, is_client: bool) {
        if is_client {
            let mut out = Vec::new();
            for number in 0..3 {
                let method = if number == 2 { Method::Head } else { Method::Get };
                let key = self.end.request(method, true, &mut out, |_| {}).expect("a stream");
                self.keys.insert(key.id, key);
            }
        } else {
            self.receive(PREFACE, usize::MAX);
        }
        self.receive(&frame("SETTINGS"), usize::MAX);
        self.receive(&frame("SETTINGS ack"), usize::MAX);
        self.events.clear();
    }

    fn receive(&mut self, bytes: &[u8], step: usize) {
        for piece in bytes.chunks(step.min(bytes.len()).max(1)) {
            self.unread.extend_from_slice(piece);
            let unread = std::mem::take(&mut self.unread);
            let mut input = &unread[..];
            let failure = loop {
                let received = self.end.receive(&mut input, self.now_ms, &mut self.section);
                match received {
                    Ok(None) => break None,
                    Ok(Some(event)) => {
                        let text = words(&event, &mut self.keys);
                        hear(text, &mut self.events);
                    }
                    Err(code) => break Some(code),
                }
            };
            assert!(failure.is_some() || input.len() <= Connection::INPUT_BYTES_MAX);
            self.unread = input.to_vec();
            failure.into_iter().for_each(|code| self.fail(code));
        }
        self.write_down(Vec::new());
    }

    fn fail(&mut self, code: ErrorCode) {
        if !self.has_failed {
            self.events.push(format!("! {}", code.name()));
        }
        self.has_failed = true;
    }

    /// What the caller can do:
    /// `respond 1 200 [end]`, `interim 1 103`, `trailers 1`, `offer 1 500 [end]`, `plan 1000`,
    /// `release 1 500`, `reset 1 CANCEL`, `drain`, `finished`, `time 10000`, in milliseconds.
    fn call(&mut self, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().expect("a number");
        let key = words.get(1).and_then(|id| self.keys.get(&id.parse().ok()?)).copied();
        let stale = Key { id: 0, slot: 0 };
        let key = key.unwrap_or(stale);
        let is_end = words.last() == Some(&"end");
        let mut out = Vec::new();
        let is_done = match words[0] {
            "respond" => self.end.respond(key, is_end, &mut out, |block| {
                block.status(Status(number(2) as u16));
            }),
            "interim" => self.end.interim(key, &mut out, |block| {
                block.status(Status(number(2) as u16));
            }),
            "trailers" => self.end.trailers(key, &mut out, |block| {
                literal::field("x-sum", b"7", block.out());
            }),
            "offer" => self.end.offer(key, number(2) as u64, is_end),
            "plan" => {
                while let Some(plan) = self.end.plan(number(1), &mut out) {
                    out.resize(out.len() + plan.bytes, b'.');
                }
                true
            }
            "release" => {
                self.end.release(key, number(2));
                true
            }
            "reset" => {
                self.end.reset(key, ErrorCode::CANCEL);
                true
            }
            "drain" => {
                self.end.drain();
                true
            }
            "finished" => self.end.is_finished(),
            "time" => {
                self.now_ms = number(1) as u64;
                if let Err(code) = self.end.check(self.now_ms) {
                    self.fail(code);
                }
                true
            }
            other => panic!("what is {other:?}?"),
        };
        if !is_done {
            self.events.push("= no".to_owned());
        }
        self.write_down(out);
    }

    /// Writes down the frames that leave.
    fn write_down(&mut self, mut out: Vec<u8>) {
        self.end.take_output(&mut out);
        let mut rest = &out[..];
        if let Some(frames) = rest.strip_prefix(PREFACE) {
            rest = frames;
        }
        while let Some(head) = Head::parse(rest) {
            let payload = &rest[HEAD_BYTES..HEAD_BYTES + head.length];
            rest = &rest[HEAD_BYTES + head.length..];
            let text = self.frame_in_words(&head, payload);
            self.events.push(format!("< {text}"));
        }
        assert!(rest.is_empty(), "whole frames leave");
    }

    fn frame_in_words(&mut self, head: &Head, payload: &[u8]) -> String {
        let id = head.stream;
        let end = if head.has(flag::END_STREAM) { " end" } else { "" };
        match Frame::parse(head, payload).expect("a frame") {
            Frame::Data(bytes) => format!("DATA {id} {}{end}", bytes.len()),
            Frame::Headers(block) => {
                let limits = SectionLimits::default();
                self.decoder.decode(block, &limits, &mut self.section).expect("a block");
                let status =
                    self.section.pseudo(Pseudo::Status).map(|s| s.escape_ascii().to_string());
                let status = status.map_or(String::new(), |status| format!(" | :status: {status}"));
                format!("HEADERS {id}{end}{status}{}", in_words(&self.section.fields()))
            }
            Frame::RstStream(code) => format!("RST_STREAM {id} {}", code.name()),
            Frame::Settings(settings) => {
                settings.iter().fold("SETTINGS".to_owned(), |text, (setting, value)| {
                    format!("{text} {setting}={value}")
                })
            }
            Frame::SettingsAck => "SETTINGS ack".to_owned(),
            Frame::Ping(data) => format!("PING {}", data.escape_ascii()),
            Frame::PingAck(data) => format!("PING ack {}", data.escape_ascii()),
            Frame::GoAway { last, code } => format!("GOAWAY {last} {}", code.name()),
            Frame::WindowUpdate(increment) => format!("WINDOW_UPDATE {id} {increment}"),
            other => format!("{other:?}"),
        }
    }
}

/// Adds an event; content that came in pieces is one.
fn hear(text: String, events: &mut Vec<String>) {
    if let (Some(new), Some(last)) = (content(&text), events.last().and_then(|l| content(l)))
        && new.0 == last.0
    {
        let end = if text.ends_with("end") { " end" } else { "" };
        events.pop();
        return events.push(format!("= content {} {}{end}", new.0, last.1 + new.1));
    }
    events.push(text);
}

fn content(event: &str) -> Option<(u32, usize)> {
    let mut words = event.strip_prefix("= content ")?.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn in_words(fields: &Fields<'_>) -> String {
    fields.lines().fold(String::new(), |mut text, line| {
        let name = line.name.escape_ascii();
        let value = match line.value.len() {
            0..100 => line.value.escape_ascii().to_string(),
            length => format!("{length} bytes"),
        };
        write!(text, " | {name}: {value}").expect("a string takes it");
        text
    })
}

/// An event, and the keys it brings.
fn words(event: &Event<'_>, keys: &mut HashMap<u32, Key>) -> String {
    let end = |is_end: bool| if is_end { " end" } else { "" };
    match *event {
        Event::Request { stream, request, is_end } => {
            keys.insert(stream.id, stream);
            let authority = request.target.authority.map_or(&b""[..], |authority| authority.host);
            format!(
                "= request {} {} {}://{}{}{}{}",
                stream.id,
                request.method_text.escape_ascii(),
                request.scheme.escape_ascii(),
                authority.escape_ascii(),
                request.target_text.escape_ascii(),
                end(is_end),
                in_words(&request.fields)
            )
        }
        Event::Response { stream, response, is_end } => {
            let (status, fields) = (response.status.0, in_words(&response.fields));
            format!("= response {} {status}{}{fields}", stream.id, end(is_end))
        }
        Event::TooLarge { stream } => {
            keys.insert(stream.id, stream);
            format!("= too large {}", stream.id)
        }
        Event::Content { stream, bytes, is_end } => {
            format!("= content {} {}{}", stream.id, bytes.len(), end(is_end))
        }
        Event::Trailers { stream, fields } => {
            format!("= trailers {}{}", stream.id, in_words(&fields))
        }
        Event::Reset { stream, code, by_peer } => {
            let by = if by_peer { "by the peer" } else { "by us" };
            format!("= reset {} {} {by}", stream.id, code.name())
        }
        Event::GoAway { last, code } => format!("= goaway {last} {}", code.name()),
    }
}

/// The bytes of a frame. Behind its name come:
/// `DATA 1 500 [end] [padded 3]`, `HEADERS 1 [end] [more] [| name: value]...`,
/// `CONTINUATION 1 [more] [| name: value]...`, `GET 1 /path`, `POST 1 /path`, `PRIORITY 3 on 1`,
/// `RST_STREAM 1 8`, `SETTINGS [ack] [4=65535]...`, `PING [ack] 12345678`, `GOAWAY 7 0`,
/// `WINDOW_UPDATE 0 100`, `PRIORITY_UPDATE 1 u=0`; and `RAW` with bytes as in `notation/mod.rs`.
fn frame(text: &str) -> Vec<u8> {
    let (text, fields) = text.split_once(" | ").unwrap_or((text, ""));
    let words: Vec<&str> = text.split(' ').collect();
    let number = |at: usize| words[at].parse::<u32>().expect("a number");
    let has = |word| words.contains(&word);
    let mut out = Vec::new();
    let ends = if has("end") { flag::END_STREAM } else { 0 };
    let last = if has("more") { 0 } else { flag::END_HEADERS };
    match words[0] {
        "PREFACE" => out.extend_from_slice(PREFACE),
        "RAW" => out = notation::bytes(&text[4..], &notation::no_names),
        "DATA" => {
            let mut payload = vec![b'.'; number(2) as usize];
            let mut flags = ends;
            if let Some(at) = words.iter().position(|word| *word == "padded") {
                payload.insert(0, number(at + 1) as u8);
                payload.resize(payload.len() + number(at + 1) as usize, 0);
                flags |= flag::PADDED;
            }
            write::frame(Kind::DATA, flags, number(1), &payload, &mut out);
        }
        "HEADERS" => write::frame(Kind::HEADERS, ends | last, number(1), &block(fields), &mut out),
        "CONTINUATION" => {
            write::frame(Kind::CONTINUATION, last, number(1), &block(fields), &mut out);
        }
        method @ ("GET" | "POST") => {
            let fields = if fields.is_empty() { String::new() } else { format!(" | {fields}") };
            let head = format!(":method: {method} | :scheme: https | :path: {}", words[2]);
            let fields = format!("{head} | :authority: a{fields}");
            let ends = if method == "GET" { flag::END_STREAM } else { 0 };
            write::frame(Kind::HEADERS, ends | last, number(1), &block(&fields), &mut out);
        }
        "PRIORITY" => {
            let payload = [&number(3).to_be_bytes()[..], &[16]].concat();
            write::frame(Kind::PRIORITY, 0, number(1), &payload, &mut out);
        }
        "RST_STREAM" => write::rst_stream(number(1), ErrorCode(number(2)), &mut out),
        "SETTINGS" if has("ack") => write::settings_ack(&mut out),
        "SETTINGS" => {
            let pair = |word: &&str| {
                let (setting, value) = word.split_once('=').expect("a setting and its value");
                (setting.parse().expect("a setting"), value.parse().expect("a value"))
            };
            write::settings(&words[1..].iter().map(pair).collect::<Vec<_>>(), &mut out);
        }
        "PING" => {
            let data = words.last().expect("its data").as_bytes();
            write::ping(data.try_into().expect("eight bytes"), has("ack"), &mut out);
        }
        "GOAWAY" => write::goaway(number(1), ErrorCode(number(2)), &mut out),
        "WINDOW_UPDATE" => write::window_update(number(1), number(2), &mut out),
        "PRIORITY_UPDATE" => write::priority_update(number(1), words[2].as_bytes(), &mut out),
        other => panic!("what is {other:?}?"),
    }
    assert!(out.len() <= frame::PAYLOAD_BYTES_MIN + HEAD_BYTES || words[0] == "RAW");
    out
}

/// Fields as literals without codes, so that anything can be said.
fn block(fields: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields.split(" | ").filter(|field| !field.is_empty()) {
        let (name, value) = field[1..].split_once(':').expect("a colon");
        let name = notation::bytes(&field[..name.len() + 1], &notation::no_names);
        let value = notation::bytes(value.strip_prefix(' ').unwrap_or(value), &notation::no_names);
        out.push(0);
        for text in [name, value] {
            match text.len() {
                0..127 => out.push(text.len() as u8),
                length => {
                    let rest = length - 127;
                    out.extend_from_slice(&[127, (rest & 127) as u8 | 128, (rest >> 7) as u8]);
                }
            }
            out.extend_from_slice(&text);
        }
    }
    out
}
