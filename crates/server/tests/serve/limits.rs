//! Limits: how many, how long, how slow, and what happens when the system has no more to give.

use crate::client::{Body, Client};
use crate::scratch::Scratch;
use crate::server::{PATIENCE, Server, wait_for};
use crate::site::Site;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::process::{Resource, Rlimit, getrlimit, prlimit, setrlimit};
use std::time::{Duration, Instant};

/// How many connections are held at once where the limit on open files allows it.
const MANY: usize = 10_000;

/// Descriptors of this process that other tests need meanwhile.
const OTHERS: usize = 1000;

const HELLO: &str = "GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n";

/// Raises this process's limit on open files as far as it may, and says how many that is.
fn descriptors() -> usize {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize)
}

/// The processor time that a process has used, in seconds.
fn processor_seconds(server: &Server) -> f64 {
    let path = format!("/proc/{}/stat", server.pid().as_raw_nonzero());
    let stat = std::fs::read_to_string(path).expect("it runs");
    let after_name = stat.rsplit(')').next().expect("a name in parentheses");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: f64 = [11, 12].iter().map(|at| fields[*at].parse::<f64>().expect("ticks")).sum();
    ticks / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn ten_thousand_connections_at_once() {
    let site = Site::new("many");
    // Of its descriptors the server keeps an eighth and a few for itself.
    let allowed = descriptors();
    let count = MANY.min(allowed.saturating_sub(OTHERS)).min(allowed / 8 * 6);
    println!("{count} connections at once");
    let server = Server::start(&site.folder(), &[]);
    let mut clients: Vec<Client> = (0..count).map(|_| Client::new(server.address())).collect();
    for round in 0..2 {
        for client in &mut clients {
            client.send(HELLO).expect("it is read");
        }
        for client in &mut clients {
            let answer = client.answer(Body::AsFramed).expect("an answer to each");
            assert_eq!(answer.body, b"hello, world\n", "round {round}");
        }
    }
}

#[test]
fn a_head_that_drips_is_refused_in_time() {
    let site = Site::new("drip");
    let server = Server::start(&site.folder(), &["--head-timeout", "1"]);
    let mut client = Client::new(server.address());
    client.send("GET / HTTP/1.1\r\nHost: a\r\nX: ").expect("it is read");
    let began = Instant::now();
    while !client.hears_within(Duration::from_millis(100)) {
        assert!(began.elapsed() < PATIENCE, "each byte bought it more time");
        if client.send("x").is_err() {
            break;
        }
    }
    assert!(began.elapsed() >= Duration::from_millis(900), "it had a second");
    let answer = client.answer(Body::AsFramed).expect("an answer");
    assert_eq!((answer.status(), answer.field("Connection")), (408, Some("close")));
    assert_eq!(client.rest().expect("an end in good order"), b"");
}

/// A request in time on a connection that has answered before, whatever the clock said then.
#[test]
fn the_time_for_a_head_begins_with_its_first_byte() {
    let site = Site::new("head-time");
    let server = Server::start(&site.folder(), &["--head-timeout", "2"]);
    let mut client = Client::new(server.address());
    for _ in 0..3 {
        assert_eq!(client.get("/hello.txt").expect("an answer").status(), 200);
        std::thread::sleep(Duration::from_millis(1000));
    }
    assert_eq!(client.get("/hello.txt").expect("an answer").status(), 200);
}

#[test]
fn an_idle_connection_ends_without_a_word() {
    let site = Site::new("idle");
    let server = Server::start(&site.folder(), &["--idle-timeout", "1"]);
    let mut fresh = Client::new(server.address());
    let mut used = Client::new(server.address());
    assert_eq!(used.get("/hello.txt").expect("an answer").status(), 200);
    assert_eq!(used.rest().expect("an end in good order"), b"");
    assert_eq!(fresh.rest().expect("an end in good order"), b"");
}

/// Connects with a buffer so small that the server notices soon what is not read.
fn narrow(server: &Server) -> Client {
    let client = Client::new(server.address());
    set_socket_recv_buffer_size(client.stream(), 64 << 10).expect("a smaller buffer");
    client
}

#[test]
fn a_client_that_does_not_read_is_cut_off() {
    let scratch = Scratch::new("slow");
    let large = std::fs::File::create(scratch.join("large")).expect("a file");
    large.set_len(64 << 20).expect("a size");
    let server = Server::start(scratch.path(), &["--rate-min", "100000"]);
    let mut client = narrow(&server);
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is read");
    assert_eq!(client.head().expect("an answer").status(), 200);
    // One that reads well is none of its business, however long it takes.
    let mut brisk = narrow(&server);
    brisk.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is read");
    assert_eq!(brisk.head().expect("an answer").status(), 200);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(13) {
        brisk.body(256 << 10).expect("more of the file");
        std::thread::sleep(Duration::from_millis(100));
    }
    client.body(64 << 20).expect_err("it was cut off, and knows it");
}

#[test]
fn connections_beyond_the_cap_wait_for_their_turn() {
    let site = Site::new("cap");
    let server = Server::start(&site.folder(), &["--connections-max", "4", "--workers", "2"]);
    let mut held: Vec<Client> = Vec::new();
    for _ in 0..4 {
        let mut client = Client::new(server.address());
        assert_eq!(client.get("/hello.txt").expect("an answer").status(), 200);
        held.push(client);
    }
    // Several, so that each worker gets one that it has to leave waiting.
    let mut waiting: Vec<Client> = Vec::new();
    for _ in 0..8 {
        let mut client = Client::new(server.address());
        client.send(HELLO).expect("there is room in the kernel");
        waiting.push(client);
    }
    let early =
        waiting.iter_mut().filter_map(|c| c.hears_within(Duration::from_millis(100)).then_some(()));
    assert_eq!(early.count(), 0, "served beyond the cap");
    // Those that are held are served as before; as they go, the others come.
    for client in &mut held {
        assert_eq!(client.get("/hello.txt").expect("an answer").status(), 200);
    }
    drop(held);
    let mut served = 0;
    while !waiting.is_empty() {
        let at = wait_for("the next in line", || {
            waiting.iter_mut().position(|client| client.hears_within(Duration::from_millis(1)))
        });
        let answer = waiting.remove(at).answer(Body::AsFramed).expect("an answer");
        assert_eq!(answer.status(), 200);
        served += 1;
    }
    assert_eq!(served, 8);
}

#[test]
fn running_out_of_descriptors_neither_spins_nor_ends_anything() {
    let site = Site::new("descriptors");
    let server = Server::start(&site.folder(), &[]);
    let mut first = Client::new(server.address());
    assert_eq!(first.get("/hello.txt").expect("an answer").status(), 200);
    let low = Rlimit { current: Some(64), maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(Some(server.pid()), Resource::Nofile, low).expect("a lower limit for a child");
    let mut clients: Vec<Client> = (0..150).map(|_| Client::new(server.address())).collect();
    for client in &mut clients {
        client.send(HELLO).expect("there is room in the kernel");
    }
    wait_for("a shortage", || server.said().contains("have to wait").then_some(()));
    let before = processor_seconds(&server);
    let began = Instant::now();
    std::thread::sleep(Duration::from_secs(2));
    let share = (processor_seconds(&server) - before) / began.elapsed().as_secs_f64();
    assert!(share < 0.5, "it spins: {share} of a processor");
    // Who is in is served; what is not in memory cannot be opened, and that is said.
    assert_eq!(first.get("/hello.txt").expect("an answer").status(), 200);
    let answer = first.get("/page.html").expect("an answer");
    assert_eq!((answer.status(), answer.field("Retry-After")), (503, Some("1")));
    // As connections go, those that wait come in.
    let mut served = 0;
    while !clients.is_empty() {
        let at = wait_for("the next in line", || {
            clients.iter_mut().position(|client| client.hears_within(Duration::from_millis(1)))
        });
        let answer = clients.remove(at).answer(Body::AsFramed).expect("an answer");
        assert_eq!(answer.body, b"hello, world\n");
        served += 1;
    }
    assert_eq!(served, 150);
    assert_eq!(first.get("/page.html").expect("an answer").status(), 200);
}

/// A start with hardly any descriptors: fewer connections, none lost.
#[test]
fn a_low_limit_on_open_files_means_fewer_connections() {
    let site = Site::new("few");
    let mut command = std::process::Command::new("sh");
    let serval = env!("CARGO_BIN_EXE_serval");
    let listen = "--listen 127.0.0.1:0 --log none";
    command.args(["-c", &format!("ulimit -n 100; exec {serval} \"$0\" {listen}")]);
    command.arg(site.folder());
    let server = Server::of(command);
    let mut clients: Vec<Client> = (0..120).map(|_| Client::new(server.address())).collect();
    for client in &mut clients {
        client.send(HELLO).expect("there is room in the kernel");
    }
    for _ in 0..120 {
        let at = wait_for("the next in line", || {
            clients.iter_mut().position(|client| client.hears_within(Duration::from_millis(1)))
        });
        let answer = clients.remove(at).answer(Body::AsFramed).expect("an answer");
        assert_eq!(answer.body, b"hello, world\n");
    }
    assert!(!server.said().contains("have to wait"), "{}", server.said());
}
