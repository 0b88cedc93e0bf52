//! Two ends of HTTP/2 in memory, over a link that cuts what it carries anywhere: every message
//! arrives whole, whatever the cuts, the windows and the order of calls. A seed gives all of it.

use serval_proto::field::Name;
use serval_proto::h2::section::Section;
use serval_proto::h2::{Connection, ErrorCode, Event, Key, Limits, Role};
use serval_proto::method::Method;
use serval_proto::status::Status;
use std::collections::HashMap;

const REQUESTS: usize = 60;

/// Numbers from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// The content of a message, byte by byte.
fn content(id: u32, is_response: bool, at: u64) -> u8 {
    (u64::from(id) * 31 + at * 7 + at / 251 + u64::from(is_response)) as u8
}

/// How far a message has come.
#[derive(Clone, Copy, Default)]
struct Progress {
    received: u64,
    sent: u64,
    /// All of the content that this end sends.
    length: u64,
    is_received: bool,
    with_trailers: bool,
}

struct End {
    connection: Connection,
    section: Section,
    is_client: bool,
    streams: HashMap<Key, Progress>,
    /// What the link has brought and was not read, and what has still to be carried.
    input: Vec<u8>,
    output: Vec<u8>,
    finished: usize,
    resets: usize,
}

impl End {
    fn new(role: Role, dice: &mut Dice) -> End {
        let limits = Limits {
            stream_window_bytes: 65_535 + dice.roll(100_000) as u32,
            connection_window_bytes: 65_535 + dice.roll(100_000) as u32,
            streams_max: 1 + dice.roll(30) as u32,
            resets_received_max: 1000,
            resets_provoked_max: 1000,
            ..Limits::default()
        };
        End {
            connection: Connection::new(role, limits, 0),
            section: Section::new(),
            is_client: role == Role::Client,
            streams: HashMap::new(),
            input: Vec::new(),
            output: Vec::new(),
            finished: 0,
            resets: 0,
        }
    }

    /// Reads what has come, and acts on it.
    fn read(&mut self, now_ms: u64, dice: &mut Dice) {
        let bytes = std::mem::take(&mut self.input);
        let mut input = &bytes[..];
        loop {
            let event = self.connection.receive(&mut input, now_ms, &mut self.section);
            let Some(event) = event.expect("nothing is wrong") else { break };
            match event {
                Event::Request { stream, request, is_end } => {
                    assert_eq!(request.target.path, b"/some/path");
                    assert!(request.fields.has(Name::UserAgent));
                    let length =
                        if dice.roll(3) == 0 { dice.roll(200_000) } else { dice.roll(500) };
                    let progress = Progress { length, is_received: is_end, ..Progress::default() };
                    self.streams.insert(stream, progress);
                    self.respond(stream, length, dice);
                }
                Event::Response { stream, response, is_end } => {
                    if response.status == Status::OK {
                        let progress = self.streams.get_mut(&stream).expect("it was asked for");
                        progress.is_received = is_end;
                    }
                }
                Event::Content { stream, bytes, is_end } => {
                    let progress = self.streams.get_mut(&stream).expect("a stream");
                    for byte in bytes {
                        let expected = content(stream.id, self.is_client, progress.received);
                        assert_eq!(*byte, expected, "{stream:?} at {}", progress.received);
                        progress.received += 1;
                    }
                    progress.is_received |= is_end;
                    let length = bytes.len();
                    self.connection.release(stream, length);
                }
                Event::Trailers { stream, fields } => {
                    assert_eq!(fields.lines().count(), 1);
                    self.streams.get_mut(&stream).expect("a stream").is_received = true;
                }
                Event::Reset { stream, code, by_peer } => {
                    assert!(by_peer || code == ErrorCode::REFUSED_STREAM, "{code:?}");
                    self.streams.remove(&stream);
                    self.resets += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(input.len() <= Connection::INPUT_BYTES_MAX);
        self.input = input.to_vec();
    }

    /// Reads what comes at the end, when there are no streams.
    fn read_end(&mut self) {
        let bytes = std::mem::take(&mut self.input);
        let mut input = &bytes[..];
        loop {
            let event = self.connection.receive(&mut input, 1, &mut self.section);
            match event.expect("nothing is wrong") {
                Some(Event::GoAway { code, .. }) => assert_eq!(code, ErrorCode::NO_ERROR),
                Some(other) => panic!("{other:?}"),
                None => break,
            }
        }
        self.input = input.to_vec();
    }

    fn respond(&mut self, stream: Key, length: u64, dice: &mut Dice) {
        if dice.roll(5) == 0 {
            self.connection.interim(stream, &mut self.output, |block| block.status(Status(103)));
        }
        self.connection.respond(stream, length == 0, &mut self.output, |block| {
            block.status(Status::OK);
            block.field("server", b"serval");
            block.field("x-length", length.to_string().as_bytes());
        });
        self.offer(stream, length, dice);
    }

    /// Offers all, or all but an end that comes as trailers.
    fn offer(&mut self, stream: Key, length: u64, dice: &mut Dice) {
        let with_trailers = length > 0 && dice.roll(4) == 0;
        if length > 0 {
            assert!(self.connection.offer(stream, length, !with_trailers));
        }
        self.streams.get_mut(&stream).expect("a stream").with_trailers = with_trailers;
    }

    fn ask(&mut self, dice: &mut Dice) -> bool {
        let length = if dice.roll(2) == 0 { 0 } else { dice.roll(100_000) };
        let fields = dice.roll(20);
        let key = self.connection.request(Method::Post, length == 0, &mut self.output, |block| {
            block.field(":method", b"POST");
            block.field(":scheme", b"https");
            block.field(":authority", b"example.com");
            block.field(":path", b"/some/path");
            block.field("user-agent", b"serval-lab");
            for number in 0..fields {
                block.field("x-number", number.to_string().repeat(300).as_bytes());
            }
        });
        let Some(key) = key else { return false };
        self.streams.insert(key, Progress { length, ..Progress::default() });
        self.offer(key, length, dice);
        true
    }

    /// Writes content for a while.
    fn write(&mut self, dice: &mut Dice) {
        for _ in 0..dice.roll(10) {
            let room = 9 + dice.roll(20_000) as usize;
            let Some(plan) = self.connection.plan(room, &mut self.output) else { break };
            assert!(plan.bytes + 9 <= room);
            let progress = self.streams.get_mut(&plan.stream).expect("a stream");
            for _ in 0..plan.bytes {
                self.output.push(content(plan.stream.id, !self.is_client, progress.sent));
                progress.sent += 1;
            }
            assert_eq!(plan.is_end, progress.sent == progress.length && !progress.with_trailers);
            if progress.sent == progress.length && progress.with_trailers {
                let wrote = self.connection.trailers(plan.stream, &mut self.output, |block| {
                    block.field("x-sum", b"7");
                });
                assert!(wrote);
            }
        }
        self.connection.take_output(&mut self.output);
        self.streams.retain(|_, progress| {
            let is_done = progress.is_received && progress.sent == progress.length;
            self.finished += usize::from(is_done);
            !is_done
        });
    }
}

/// Carries some of what waits.
fn carry(from: &mut End, to: &mut End, dice: &mut Dice) {
    let most = from.output.len().min(1 + dice.roll(30_000) as usize);
    let length = if dice.roll(3) == 0 { most.min(dice.roll(12) as usize) } else { most };
    to.input.extend(from.output.drain(..length));
}

fn run(seed: u64, with_resets: bool) {
    println!("seed {seed}");
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut client = End::new(Role::Client, &mut dice);
    let mut server = End::new(Role::Server, &mut dice);
    let mut asked = 0;
    for turn in 0..60_000_u64 {
        match dice.roll(6) {
            0 if asked < REQUESTS => asked += usize::from(client.ask(&mut dice)),
            1 => carry(&mut client, &mut server, &mut dice),
            2 => carry(&mut server, &mut client, &mut dice),
            3 => {
                client.read(turn / 10, &mut dice);
                client.write(&mut dice);
            }
            4 => {
                server.read(turn / 10, &mut dice);
                server.write(&mut dice);
            }
            5 if with_resets && dice.roll(20) == 0 => {
                let end = if dice.roll(2) == 0 { &mut client } else { &mut server };
                if let Some(key) = end.streams.keys().min_by_key(|key| key.id).copied() {
                    end.connection.reset(key, ErrorCode::CANCEL);
                    end.streams.remove(&key);
                    end.resets += 1;
                }
            }
            _ => {}
        }
        let over = asked == REQUESTS && client.connection.streams_open() == 0;
        if over && server.connection.streams_open() == 0 {
            break;
        }
    }
    assert_eq!(asked, REQUESTS);
    assert_eq!(client.connection.streams_open(), 0, "the client's streams are done");
    assert_eq!(server.connection.streams_open(), 0, "the server's streams are done");
    if with_resets {
        assert!(client.finished + client.resets >= REQUESTS);
        return;
    }
    assert_eq!(client.finished + client.resets, REQUESTS);
    assert_eq!(client.finished, server.finished);
    server.connection.drain();
    server.write(&mut dice);
    while !server.output.is_empty() || !client.output.is_empty() {
        carry(&mut server, &mut client, &mut dice);
        client.read_end();
        client.connection.take_output(&mut client.output);
        carry(&mut client, &mut server, &mut dice);
        server.read(1, &mut dice);
        server.write(&mut dice);
    }
    assert!(server.connection.is_finished(), "drained");
}

#[test]
fn every_message_arrives() {
    for seed in 1..40 {
        run(seed, false);
    }
}

#[test]
fn streams_end_at_any_time() {
    for seed in 100..140 {
        run(seed, true);
    }
}
