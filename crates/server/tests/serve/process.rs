//! The program as its operator sees it: what can be typed, what it says, how it ends, what it logs.

use crate::client::{Body, Client};
use crate::scratch::Scratch;
use crate::server::{Server, program, wait_for};
use rustix::process::Signal;
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Output, Stdio};

/// Larger than what the buffers of two sockets hold.
const LARGE_BYTES: usize = 64 << 20;

/// Runs the program to its end.
fn run(options: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program().args(options).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

/// A folder with a small file and a large one.
fn folder(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.write("site/hello.txt", "hello, world\n");
    let large = std::fs::File::create(scratch.join("site/large")).expect("a file");
    large.set_len(LARGE_BYTES as u64).expect("a size");
    scratch
}

fn serve(scratch: &Scratch, options: &[&str]) -> Server {
    Server::start(&scratch.join("site"), options)
}

/// Talks to a server at a path.
fn over_unix(path: &Path) -> Client {
    Client::over(OwnedFd::from(UnixStream::connect(path).expect("it accepts")).into())
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn version_and_help() {
    let (code, said, complained) = run(&["--version"]);
    assert_eq!((code, complained.as_str()), (0, ""));
    assert_eq!(said, format!("serval {}\n", env!("CARGO_PKG_VERSION")));
    for option in ["--help", "-h"] {
        let (code, said, complained) = run(&[option]);
        assert_eq!((code, complained.as_str()), (0, ""));
        for word in ["--listen", "--workers", "--index", "--log", "--quiet", "--head-timeout"] {
            assert!(said.contains(word), "{word} in {said}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_one_sentence() {
    let scratch = folder("mistakes");
    let site = scratch.join("site");
    let site = site.to_str().expect("UTF-8");
    let file = format!("{site}/hello.txt");
    for (options, expected) in [
        (&["--listne", "80"][..], "--listen"),
        (&["--no-such-thing"], "--no-such-thing"),
        (&["--workers", "many"], "many"),
        (&["--workers", "0"], "--workers"),
        (&["--head-timeout", "0"], "--head-timeout"),
        (&["--line-bytes-max", "1000000"], "--line-bytes-max"),
        (&["--fields-max", "1000"], "--fields-max"),
        (&["--connections-max", "0"], "--connections-max"),
        (&["--index", "a/b"], "--index"),
        (&["--listen", "nonsense"], "nonsense"),
        (&["--listen", "127.0.0.1:99999"], "99999"),
        (&["--listen", "https://"], "https://"),
        (&["--listen", "unix:"], "unix:"),
        (&["no-such-folder"], "no-such-folder"),
        (&[file.as_str()], "is not a folder"),
        (&["a", "b"], "'b'"),
    ] {
        let (code, said, complained) = run(options);
        assert_eq!((code, said.as_str()), (2, ""), "{options:?}: {complained}");
        assert!(complained.contains(expected), "{options:?}: {complained}");
        assert!(complained.starts_with("serval: "), "{options:?}: {complained}");
        assert_eq!(complained.trim_end().lines().count(), 1, "{options:?}: {complained}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let scratch = folder("taken");
    let site = scratch.join("site");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    for workers in ["1", "2"] {
        let (code, said, complained) =
            run(&[site.to_str().expect("UTF-8"), "--listen", &address, "--workers", workers]);
        assert_eq!((code, said.as_str()), (1, ""), "{complained}");
        assert!(complained.contains(&address), "{complained}");
        assert!(complained.contains("another program"), "{complained}");
        assert_eq!(complained.lines().count(), 1, "{complained}");
    }
}

#[test]
fn a_port_of_another_serval_is_taken() {
    let scratch = folder("twice");
    let first = serve(&scratch, &["--workers", "2"]);
    let site = scratch.join("site");
    let address = first.address().to_string();
    let (code, _, complained) =
        run(&[site.to_str().expect("UTF-8"), "--listen", &address, "--workers", "2"]);
    assert_eq!(code, 1, "{complained}");
}

#[test]
fn a_log_that_cannot_be_opened_is_told() {
    let scratch = folder("no-log");
    let site = scratch.join("site");
    let log = scratch.join("no-folder/log");
    let (code, _, complained) = run(&[
        site.to_str().expect("UTF-8"),
        "--listen",
        "127.0.0.1:0",
        "--log",
        log.to_str().expect("UTF-8"),
    ]);
    assert_eq!(code, 1, "{complained}");
    assert_eq!(complained.lines().count(), 1, "{complained}");
}

#[test]
fn several_listeners_at_once() {
    let scratch = folder("several");
    let socket = scratch.join("socket");
    let unix = format!("unix:{}", socket.display());
    let mut options = vec!["--listen", "http://127.0.0.1:0/", "--listen", &unix];
    let has_ipv6 = TcpListener::bind("[::1]:0").is_ok();
    if has_ipv6 {
        options.extend(["--listen", "[::1]:0"]);
    } else {
        println!("missing: IPv6");
    }
    let mut server = serve(&scratch, &options);
    let get = |mut client: Client| client.get("/hello.txt").expect("an answer").body;
    assert_eq!(get(Client::new(server.address())), b"hello, world\n");
    assert_eq!(get(over_unix(&socket)), b"hello, world\n");
    if has_ipv6 {
        let address = server.link("http://[::1]").parse().expect("an address");
        assert_eq!(get(Client::new(address)), b"hello, world\n");
    }
    let said = server.said();
    assert!(said.contains(&unix) && said.contains("Ctrl-C"), "{said}");
    server.signal(Signal::TERM);
    assert!(server.exit_status().success());
    assert!(!socket.exists(), "the socket's path is removed");
}

#[test]
fn a_socket_that_was_left_is_replaced_and_a_live_one_is_not() {
    let scratch = folder("sockets");
    let site = scratch.join("site");
    let socket = scratch.join("socket");
    drop(UnixListener::bind(&socket).expect("a socket"));
    let unix = format!("unix:{}", socket.display());
    let listen = [site.to_str().expect("UTF-8"), "--listen", &unix, "--workers", "2"];
    let mut command = program();
    command.args(listen).args(["--log", "none"]);
    let _first = Server::of(command);
    assert_eq!(over_unix(&socket).get("/hello.txt").expect("an answer").status(), 200);

    let (code, _, complained) = run(&listen);
    assert_eq!(code, 1, "{complained}");
    assert!(complained.contains(&unix), "{complained}");
    assert_eq!(over_unix(&socket).get("/hello.txt").expect("an answer").status(), 200);

    let file = scratch.write("file", "precious");
    let unix = format!("unix:{}", file.display());
    let (code, _, complained) = run(&[listen[0], "--listen", &unix]);
    assert_eq!(code, 1, "{complained}");
    assert_eq!(text(&file), "precious", "what is no socket is left alone");
}

/// The first bytes of the large file's answer, which is under way from then on.
fn begin_large(server: &Server) -> Client {
    let mut client = Client::new(server.address());
    client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is read");
    assert_eq!(client.head().expect("an answer").status(), 200);
    client
}

#[test]
fn a_stop_finishes_what_is_under_way() {
    let scratch = folder("drain");
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = serve(&scratch, &[]);
        let mut idle = Client::new(server.address());
        idle.get("/hello.txt").expect("an answer");
        let mut busy = begin_large(&server);
        server.signal(signal);
        assert_eq!(idle.rest().expect("an end in good order"), b"");
        let body = busy.body(LARGE_BYTES).expect("the whole answer");
        assert!(body.iter().all(|byte| *byte == 0));
        assert_eq!(busy.rest().expect("an end in good order"), b"");
        assert_eq!(server.exit_status().code(), Some(0));
        assert!(server.said().contains("finishing"), "{}", server.said());
    }
}

#[test]
fn a_stop_waits_for_answers_only_so_long() {
    let scratch = folder("drain-timeout");
    let mut server = serve(&scratch, &["--drain-timeout", "1"]);
    let mut busy = begin_large(&server);
    server.signal(Signal::TERM);
    // The client reads nothing until the server is gone.
    server.exit_status();
    busy.body(LARGE_BYTES).expect_err("it was cut off");
}

#[test]
fn a_second_signal_stops_at_once() {
    let scratch = folder("second-signal");
    let mut server = serve(&scratch, &["--drain-timeout", "600"]);
    let mut busy = begin_large(&server);
    server.signal(Signal::TERM);
    wait_for("its word that it stops", || server.said().contains("finishing").then_some(()));
    server.signal(Signal::TERM);
    assert_eq!(server.exit_status().code(), Some(1));
    busy.body(LARGE_BYTES).expect_err("it was cut off");
}

/// RFC 9112 §9.6: closing with input unread would be a reset, which takes the end of the answer
/// from a client that has yet to read it.
#[test]
fn what_comes_behind_the_last_request_does_not_cost_its_answer() {
    let scratch = folder("behind-close");
    let server = serve(&scratch, &[]);
    let mut client = Client::new(server.address());
    client.send("GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("it is read");
    assert_eq!(client.head().expect("an answer").status(), 200);
    client.send("GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n").expect("there is room for it");
    let mut received = 0;
    while received < LARGE_BYTES {
        let step = (1 << 20).min(LARGE_BYTES - received);
        client.body(step).unwrap_or_else(|error| panic!("{error} after {received} bytes"));
        received += step;
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let _ = client.rest();
}

#[test]
fn quiet_says_nothing_at_all() {
    let scratch = folder("quiet");
    let socket = scratch.join("socket");
    let mut command = program();
    command.arg(scratch.join("site")).arg("--quiet");
    command.arg("--listen").arg(format!("unix:{}", socket.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    let stream = wait_for("its socket", || UnixStream::connect(&socket).ok());
    let mut client = Client::over(OwnedFd::from(stream).into());
    assert_eq!(client.get("/hello.txt").expect("an answer").status(), 200);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM)
        .expect("it runs");
    let Output { status, stdout, stderr } = child.wait_with_output().expect("its end");
    assert_eq!((status.code(), stdout.len(), stderr.len()), (Some(0), 0, 0));
}

/// A line of the combined format without its date.
fn without_date(line: &str) -> String {
    let (before, rest) = line.split_once(" [").expect("a date begins");
    let (date, after) = rest.split_once("] ").expect("a date ends");
    assert_eq!((date.len(), &date[20..]), (26, " +0000"), "{date}");
    format!("{before} {after}")
}

#[test]
fn the_log_holds_each_request_and_no_raw_bytes() {
    let scratch = folder("log");
    let log = scratch.write("access.log", "what was there before\n");
    let mut server = serve(&scratch, &["--log", log.to_str().expect("UTF-8")]);
    let mut client = Client::new(server.address());
    client.get("/hello.txt?a=b").expect("an answer");
    let hostile: &[u8] = b"HEAD /\"\\\xff\xc3\xbc HTTP/1.1\r\nHost: a\r\n\
        Referer: http://b/\"\r\nUser-Agent: evil\t\x9b31m \xff\"\r\n\r\n";
    client.send(hostile).expect("it is read");
    assert_eq!(client.answer(Body::Never).expect("an answer").status(), 404);
    client.send("\x1b[31m\r\n\r\n").expect("it is read");
    assert_eq!(client.answer(Body::AsFramed).expect("an answer").status(), 400);
    drop(client);
    // Before it ends, and without more traffic.
    wait_for("three lines", || (text(&log).lines().count() == 4).then_some(()));
    server.signal(Signal::TERM);
    assert!(server.exit_status().success());
    let text = text(&log);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("what was there before"));
    let lines: Vec<String> = lines.map(without_date).collect();
    assert_eq!(lines[0], r#"127.0.0.1 - - "GET /hello.txt?a=b HTTP/1.1" 200 13 "-" "-""#);
    assert_eq!(
        lines[1],
        [
            r#"127.0.0.1 - - "HEAD /\"\\\xff\xc3\xbc HTTP/1.1" 404 0 "http://b/\"" "#,
            r#""evil\x09\x9b31m \xff\"""#
        ]
        .concat()
    );
    assert!(lines[2].starts_with(r#"127.0.0.1 - - "-" 400 "#), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
    assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)));
}

#[test]
fn the_log_goes_to_a_pipe_in_the_combined_format() {
    let scratch = folder("pipe");
    let mut command = program();
    command.arg(scratch.join("site")).args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
    let mut server = Server::of(command);
    let mut output = server.stdout();
    let mut client = Client::new(server.address());
    for _ in 0..3 {
        client.get("/hello.txt").expect("an answer");
    }
    server.signal(Signal::TERM);
    assert!(server.exit_status().success());
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text");
    let lines: Vec<String> = text.lines().map(without_date).collect();
    assert_eq!(lines, [r#"127.0.0.1 - - "GET /hello.txt HTTP/1.1" 200 13 "-" "-""#; 3]);
}

#[test]
fn an_answer_that_was_cut_off_is_logged_with_what_was_sent() {
    let scratch = folder("cut-off");
    let log = scratch.join("access.log");
    let server = serve(&scratch, &["--log", log.to_str().expect("UTF-8")]);
    drop(begin_large(&server));
    let line = wait_for("a line", || text(&log).lines().next().map(without_date));
    let sent = line.split(' ').nth(7).expect("a number of bytes");
    let sent: usize = sent.parse().expect("a number");
    assert!(sent < LARGE_BYTES, "{line}");
}

#[test]
fn other_index_files() {
    let scratch = Scratch::new("index");
    scratch.write("site/a/home.htm", "home");
    scratch.write("site/b/default.txt", "default");
    scratch.write("site/c/index.html", "index");
    let server = serve(&scratch, &["--index", "home.htm", "--index", "default.txt"]);
    let mut client = Client::new(server.address());
    let mut get = |path| {
        let answer = client.get(path).expect("an answer");
        (answer.status(), String::from_utf8(answer.body).expect("text"))
    };
    assert_eq!(get("/a/"), (200, "home".to_owned()));
    assert_eq!(get("/b/"), (200, "default".to_owned()));
    assert_eq!(get("/c/").0, 404);
}
