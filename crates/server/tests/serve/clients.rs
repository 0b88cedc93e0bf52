//! Clients that people use. One that is not installed is named; where the environment says
//! `CI=true` that is a failure, so that nobody believes in a test that never ran.

use crate::scratch::Scratch;
use crate::server::Server;
use crate::site::{Site, numbers};
use std::process::Command;

/// Whether a program can be run.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output()
        .expect("a shell")
        .status
        .success();
    if !found {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "missing: {program}");
        println!("missing: {program}");
    }
    found
}

/// Runs a program and returns what it wrote. It has to succeed.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().expect("it is installed");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {complaint}");
    output.stdout
}

fn text(program: &str, arguments: &[&str]) -> String {
    String::from_utf8(output(program, arguments)).expect("text")
}

fn curl(arguments: &[&str]) -> String {
    text("curl", &[&["-sS", "--max-time", "60"], arguments].concat())
}

/// What curl says of a transfer that it throws away.
fn status(arguments: &[&str]) -> String {
    let write = ["-o", "/dev/null", "-w", "%{http_code} %{size_download}"];
    curl(&[&write, arguments].concat())
}

#[test]
fn curl_gets_files_and_parts() {
    if !has("curl") {
        return;
    }
    let site = Site::new("curl");
    let server = Server::start(&site.folder(), &[]);
    let (hello, large) = (server.url("/hello.txt"), server.url("/numbers-3m.txt"));
    assert_eq!(curl(&[&hello]), "hello, world\n");
    assert_eq!(output("curl", &["-sS", &large]), numbers(3 << 20));
    assert_eq!(curl(&["-0", &hello]), "hello, world\n");
    let head = curl(&["-I", &hello]);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("\r\nContent-Length: 13\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(curl(&["-r", "0-4", &hello]), "hello");
    assert_eq!(curl(&["-r", "-7", &hello]), " world\n");
    assert_eq!(curl(&["-r", "1600000-1600007", &large]), "0200000\n");
    let parts = curl(&["-r", "0-7,8000-8007", &large]);
    assert!(parts.contains("0000000\n") && parts.contains("0001000\n"), "{parts}");
    assert_eq!(status(&[&server.url("/missing")]).split(' ').next(), Some("404"));
    assert_eq!(status(&["-L", &server.url("/docs")]), "200 14");
    assert_eq!(
        status(&["--path-as-is", &server.url("/../secret.txt")]).split(' ').next(),
        Some("400")
    );
    assert_eq!(status(&["-X", "POST", "-d", "a=b", &hello]).split(' ').next(), Some("405"));
    // Two at a time over one connection.
    assert_eq!(curl(&[&hello, &hello]), "hello, world\nhello, world\n");
}

#[test]
fn curl_resumes_and_compares() {
    if !has("curl") {
        return;
    }
    let site = Site::new("curl-resume");
    let server = Server::start(&site.folder(), &[]);
    let scratch = Scratch::new("curl-files");
    let (hello, large) = (server.url("/hello.txt"), server.url("/numbers-3m.txt"));
    let whole = numbers(3 << 20);
    let begun = scratch.write("begun", &whole[..1_234_567]);
    let begun = begun.to_str().expect("UTF-8");
    curl(&["-C", "-", "-o", begun, &large]);
    assert!(std::fs::read(begun).expect("a file") == whole, "it is resumed where it ended");

    assert_eq!(status(&["-z", "Tue, 02 Jan 2024 03:04:05 GMT", &hello]), "304 0");
    assert_eq!(status(&["-z", "Mon, 01 Jan 2024 00:00:00 GMT", &hello]), "200 13");
    let etag = scratch.join("etag");
    let etag = etag.to_str().expect("UTF-8");
    assert_eq!(status(&["--etag-save", etag, &hello]), "200 13");
    assert_eq!(status(&["--etag-compare", etag, &hello]), "304 0");
}

/// The number that follows a label in what a program wrote; 0 where the label is not there.
fn number(text: &str, label: &str) -> u64 {
    let Some(at) = text.find(label) else { return 0 };
    let rest = text[at + label.len()..].trim_start();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("no number behind {label}: {text}"))
}

#[test]
fn wrk_sees_no_error() {
    if !has("wrk") {
        return;
    }
    let site = Site::new("wrk");
    let server = Server::start(&site.folder(), &[]);
    for path in ["/hello.txt", "/numbers-100k.txt", "/numbers-3m.txt"] {
        let said = text("wrk", &["-t1", "-c16", "-d1s", &server.url(path)]);
        assert!(!said.contains("Socket errors"), "{path}: {said}");
        assert!(!said.contains("Non-2xx"), "{path}: {said}");
        let requests = said.lines().find_map(|line| line.trim().split_once(" requests in "));
        assert!(requests.is_some_and(|(count, _)| count != "0"), "{path}: {said}");
    }
}

#[test]
fn ab_sees_no_failure() {
    if !has("ab") {
        return;
    }
    let site = Site::new("ab");
    let server = Server::start(&site.folder(), &[]);
    for path in ["/hello.txt", "/numbers-100k.txt"] {
        let said = text("ab", &["-q", "-k", "-n", "2000", "-c", "16", &server.url(path)]);
        assert_eq!(number(&said, "Complete requests:"), 2000, "{said}");
        assert_eq!(number(&said, "Failed requests:"), 0, "{said}");
        assert_eq!(number(&said, "Non-2xx responses:"), 0, "{said}");
        assert_eq!(number(&said, "Keep-Alive requests:"), 2000, "{said}");
    }
    let said = text("ab", &["-q", "-n", "500", "-c", "8", &server.url("/hello.txt")]);
    assert_eq!(number(&said, "Complete requests:"), 500, "{said}");
    assert_eq!(number(&said, "Failed requests:"), 0, "{said}");
}
