//! What a small GET costs in HTTP/2: a client of 32 streams asks over and over, a server answers
//! with a block that was encoded once and 102 bytes. For an instruction counter:
//!
//! `valgrind --tool=callgrind --toggle-collect='*serve*' target/release/examples/h2_cost 3000`

use serval_proto::h2::hpack::literal;
use serval_proto::h2::section::Section;
use serval_proto::h2::{Connection, Event, Limits, Role};
use serval_proto::method::Method;
use serval_proto::status::Status;

const STREAMS: usize = 32;
const BODY: &[u8] = &[b'a'; 102];

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1000_usize);
    let mut client = Connection::new(Role::Client, Limits::default(), 0);
    let mut server = Connection::new(Role::Server, Limits::default(), 0);
    let (mut client_section, mut section) = (Section::new(), Section::new());
    let mut fields = Vec::new();
    literal::field("server", b"serval", &mut fields);
    literal::field("content-type", b"text/html; charset=utf-8", &mut fields);
    literal::number_field("content-length", BODY.len() as u64, &mut fields);
    literal::field("etag", b"\"1f2e3d4c5b6a-66-18a1b2c3d4e5f607\"", &mut fields);
    literal::field("date", b"Sat, 21 Nov 2026 06:00:00 GMT", &mut fields);
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let mut count = 0;
    for _ in 0..rounds {
        asked.clear();
        for _ in 0..STREAMS {
            ask(&mut client, &mut asked);
        }
        answered.clear();
        count += serve(&mut server, &asked, &fields, &mut section, &mut answered);
        let mut input = &answered[..];
        while let Ok(Some(event)) = client.receive(&mut input, 0, &mut client_section) {
            if let Event::Content { stream, bytes, .. } = event {
                client.release(stream, bytes.len());
            }
        }
    }
    println!("{count} requests");
}

fn ask(client: &mut Connection, out: &mut Vec<u8>) {
    client.request(Method::Get, true, out, |block| {
        block.field(":method", b"GET");
        block.field(":scheme", b"https");
        block.field(":authority", b"127.0.0.1:8443");
        block.field(":path", b"/index.html?x");
        block.field("user-agent", b"h2load nghttp2/1.64.0");
    });
}

/// One turn of a server: all that has come is read, and all answers go to one buffer.
#[inline(never)]
fn serve(
    server: &mut Connection,
    mut input: &[u8],
    fields: &[u8],
    section: &mut Section,
    out: &mut Vec<u8>,
) -> usize {
    let mut count = 0;
    while let Ok(Some(event)) = server.receive(&mut input, 0, section) {
        let Event::Request { stream, .. } = event else { continue };
        count += 1;
        server.respond(stream, false, out, |block| {
            block.status(Status::OK);
            block.encoded(fields);
        });
        server.offer(stream, BODY.len() as u64, true);
    }
    while let Some(plan) = server.plan(20_000, out) {
        out.extend_from_slice(BODY.get(..plan.bytes).unwrap_or_default());
    }
    server.take_output(out);
    count
}
