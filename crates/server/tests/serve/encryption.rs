//! Encrypted connections, with curl, openssl and wrk at the other end.

use crate::clients::{has, output};
use crate::scratch::Scratch;
use crate::server::{Server, program, wait_for};
use crate::site::{Site, numbers};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A certificate and its key, made by openssl.
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

impl Pair {
    fn make(scratch: &Scratch, stem: &str, names: &str) -> Pair {
        let pair = Pair {
            certificate: scratch.join(&format!("{stem}.pem")),
            key: scratch.join(&format!("{stem}.key")),
        };
        let alternatives = format!("subjectAltName={names}");
        output(
            "openssl",
            &[
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "30",
                "-subj",
                &format!("/CN={stem}"),
                "-addext",
                &alternatives,
                "-keyout",
                text(&pair.key),
                "-out",
                text(&pair.certificate),
            ],
        );
        pair
    }

    fn options(&self) -> [&str; 4] {
        ["--cert", text(&self.certificate), "--key", text(&self.key)]
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Serves `folder` encrypted, with the authority's data in `data`.
fn start(folder: &Path, data: &Path, options: &[&str]) -> Server {
    let mut command = program();
    command.arg(folder).args(["--listen", "https://127.0.0.1:0", "--log", "none"]).args(options);
    command.env("XDG_DATA_HOME", data);
    Server::of(command)
}

fn port(server: &Server) -> u16 {
    let link = server.link("https://127").rsplit_once(':').expect("a port").1;
    link.parse().expect("a number")
}

/// What curl gets, or its exit code.
fn curl(arguments: &[&str]) -> Result<Vec<u8>, i32> {
    let output = Command::new("curl")
        .args(["-sS", "--max-time", "60"])
        .args(arguments)
        .output()
        .expect("curl is installed");
    match output.status.code() {
        Some(0) => Ok(output.stdout),
        code => Err(code.unwrap_or(-1)),
    }
}

/// What `openssl s_client` says of a handshake.
fn s_client(port: u16, arguments: &[&str]) -> String {
    let connect = format!("127.0.0.1:{port}");
    let output = Command::new("openssl")
        .args(["s_client", "-connect", &connect])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("openssl is installed");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn the_machines_own_authority_is_made_and_vouches_for_it() {
    if !has("curl") {
        return;
    }
    let site = Site::new("authority");
    let data = Scratch::new("data");
    let server = start(&site.folder(), data.path(), &["--tls"]);
    let authority = data.join("serval/authority.pem");
    assert!(server.said().contains(text(&authority)), "{}", server.said());
    let trust = ["--cacert", text(&authority)];
    let port = port(&server);
    for host in ["127.0.0.1", "localhost"] {
        for version in [&["--tls-max", "1.2"][..], &["--tlsv1.3"]] {
            let url = |path: &str| format!("https://{host}:{port}{path}");
            let get = |path: &str, more: &[&str]| {
                curl(
                    &[
                        &trust[..],
                        version,
                        &["--resolve", "localhost:0:127.0.0.1"],
                        more,
                        &[&url(path)],
                    ]
                    .concat(),
                )
            };
            assert_eq!(get("/hello.txt", &[]), Ok(b"hello, world\n".to_vec()));
            assert_eq!(get("/numbers-3m.txt", &[]), Ok(numbers(3 << 20)));
            assert_eq!(
                get("/numbers-3m.txt", &["-r", "100-199"]),
                Ok(numbers(3 << 20)[100..200].to_vec())
            );
            // Several over one connection.
            assert_eq!(
                get("/hello.txt", &[&url("/hello.txt"), &url("/digits.txt")]),
                Ok(b"hello, world\n0123456789hello, world\n".to_vec())
            );
            let post = ["-d", "unasked", "-o", "/dev/null", "-w", "%{http_code}"];
            assert_eq!(get("/hello.txt", &post), Ok(b"405".to_vec()));
        }
    }
    assert_eq!(curl(&[&format!("https://127.0.0.1:{port}/")]), Err(60), "nobody else trusts it");
    // The same authority vouches for the next start.
    drop(server);
    let server = start(&site.folder(), data.path(), &[]);
    let url = server.link("https://127").to_owned();
    assert!(curl(&[&trust[..], &[&format!("{url}/hello.txt")]].concat()).is_ok());
}

#[test]
fn files_above_the_memory_limit_are_encrypted_in_pieces() {
    if !has("curl") {
        return;
    }
    let (site, data) = (Scratch::new("large-tls"), Scratch::new("data"));
    let large = numbers(20 << 20);
    site.write("large.txt", &large);
    let server = start(site.path(), data.path(), &[]);
    let url = format!("{}/large.txt", server.link("https://127"));
    assert!(curl(&["-k", &url]) == Ok(large.clone()));
    assert!(curl(&["-k", "--limit-rate", "40M", &url]) == Ok(large));
}

#[test]
fn old_versions_are_refused() {
    if !has("curl") {
        return;
    }
    let (site, data) = (Site::new("versions"), Scratch::new("data"));
    let server = start(&site.folder(), data.path(), &["--tls", "modern"]);
    let url = format!("{}/hello.txt", server.link("https://127"));
    assert!(curl(&["-k", "--tlsv1.3", &url]).is_ok());
    assert_eq!(curl(&["-k", "--tls-max", "1.2", &url]), Err(35));
    let server = start(&site.folder(), data.path(), &[]);
    let said = s_client(port(&server), &["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]);
    assert!(said.contains("alert") && said.contains("(NONE)"), "{said}");
}

#[test]
fn plain_http_is_told_to_use_https() {
    let (site, data) = (Site::new("plain"), Scratch::new("data"));
    let server = start(&site.folder(), data.path(), &[]);
    let mut client = TcpStream::connect(("127.0.0.1", port(&server))).expect("a connection");
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is read");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("text and an end");
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
    assert!(answer.contains("https://"), "{answer}");
    // Neither TLS nor anything that looks like HTTP.
    let mut client = TcpStream::connect(("127.0.0.1", port(&server))).expect("a connection");
    client.write_all(b"\x00\x01\x02\x03 what is this?").expect("it is read");
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
}

#[test]
fn each_name_gets_its_certificate() {
    if !has("openssl") || !has("curl") {
        return;
    }
    let (site, data) = (Site::new("names"), Scratch::new("data"));
    let one = Pair::make(&data, "one", "DNS:one.example,DNS:*.one.example");
    let two = Pair::make(&data, "two", "DNS:two.example");
    let options = [one.options(), two.options()].concat();
    let server = start(&site.folder(), data.path(), &options);
    let number = port(&server);
    let subject = |name: &str| s_client(number, &["-servername", name]);
    assert!(subject("one.example").contains("CN = one"));
    assert!(subject("www.one.example").contains("CN = one"));
    assert!(subject("two.example").contains("CN = two"));
    assert!(s_client(number, &["-noservername"]).contains("CN = one"));
    let refused = subject("three.example");
    assert!(refused.contains("alert") && !refused.contains("CN = "), "{refused}");
    let get = |pair: &Pair, host: &str| {
        let resolve = format!("{host}:{number}:127.0.0.1");
        let url = format!("https://{host}:{number}/hello.txt");
        curl(&["--cacert", text(&pair.certificate), "--resolve", &resolve, &url])
    };
    assert_eq!(get(&two, "two.example"), Ok(b"hello, world\n".to_vec()));
    let server = start(&site.folder(), data.path(), &[&options[..], &["--any-name"]].concat());
    assert!(s_client(port(&server), &["-servername", "three.example"]).contains("CN = one"));
}

#[test]
fn a_certificate_is_swapped_without_a_lost_request() {
    if !has("openssl") || !has("wrk") {
        return;
    }
    let (site, data) = (Site::new("swap"), Scratch::new("data"));
    let pair = Pair::make(&data, "site", "DNS:localhost,IP:127.0.0.1");
    let server = start(&site.folder(), data.path(), &pair.options());
    let url = format!("{}/hello.txt", server.link("https://127"));
    let load = Command::new("wrk")
        .args(["-t1", "-c8", "-d4s", &url])
        .stdout(Stdio::piped())
        .spawn()
        .expect("wrk is installed");
    let print =
        || s_client(port(&server), &[]).lines().find(|l| l.starts_with("MII")).map(str::to_owned);
    let before = print();
    assert!(before.is_some());
    // Found without being told.
    let other = Pair::make(&data, "other", "DNS:localhost,DNS:a.example,IP:127.0.0.1");
    std::fs::copy(&other.key, &pair.key).expect("a file");
    std::fs::copy(&other.certificate, &pair.certificate).expect("a file");
    wait_for("the new certificate", || Some(()).filter(|()| print() != before));
    // A broken one is complained of, at once when told to look, and changes nothing.
    let now = print();
    std::fs::write(&pair.key, "no key at all").expect("a file");
    server.signal(Signal::HUP);
    wait_for("a complaint", || Some(()).filter(|()| server.said().contains("site.key")));
    assert_eq!(print(), now);
    let said = load.wait_with_output().expect("its end").stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("requests in") && !said.contains("Socket errors"), "{said}");
    assert!(!said.contains("Non-2xx"), "{said}");
}

#[test]
fn clients_show_certificates_where_they_have_to() {
    if !has("openssl") || !has("curl") {
        return;
    }
    let (site, data) = (Site::new("mutual"), Scratch::new("data"));
    let pair = Pair::make(&data, "site", "IP:127.0.0.1");
    // Issued by itself, and so its own authority.
    let client = Pair::make(&data, "client", "DNS:client.example");
    let stranger = Pair::make(&data, "stranger", "DNS:stranger.example");
    let get = |server: &Server, who: Option<&Pair>| {
        let url = format!("{}/hello.txt", server.link("https://127"));
        let shown = who.map(|who| ["--cert", text(&who.certificate), "--key", text(&who.key)]);
        let shown = shown.as_ref().map_or(&[][..], |shown| &shown[..]);
        curl(&[&["-k", &url], shown].concat())
    };
    let authority = ["--client-ca", text(&client.certificate)];
    let options = [&pair.options()[..], &authority].concat();
    let server = start(&site.folder(), data.path(), &options);
    assert!(get(&server, None).is_err());
    assert!(get(&server, Some(&stranger)).is_err());
    let options = [&options[..], &["--client-auth", "optional"]].concat();
    let server = start(&site.folder(), data.path(), &options);
    assert!(get(&server, None).is_ok());
    assert!(get(&server, Some(&stranger)).is_err());
}

#[test]
fn sessions_are_resumed_by_any_worker() {
    if !has("openssl") {
        return;
    }
    let (site, data) = (Site::new("resume"), Scratch::new("data"));
    let server = start(&site.folder(), data.path(), &["--workers", "4"]);
    let session = data.join("session");
    for version in ["-tls1_2", "-tls1_3"] {
        // The request makes s_client read the tickets that come behind the handshake.
        let shell = |option: &str| {
            let request = r"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            let command = format!(
                "printf '{request}' | \
                 openssl s_client -connect 127.0.0.1:{} {version} -ign_eof {option} {} 2>&1",
                port(&server),
                text(&session)
            );
            String::from_utf8_lossy(&output("sh", &["-c", &command])).into_owned()
        };
        assert!(shell("-sess_out").contains("New, TLS"));
        for _ in 0..8 {
            let said = shell("-sess_in");
            assert!(said.contains("Reused, TLS"), "{version}: {said}");
        }
    }
}

#[test]
fn a_handshake_has_to_end_in_time() {
    let (site, data) = (Site::new("silent"), Scratch::new("data"));
    let server = start(&site.folder(), data.path(), &["--head-timeout", "1"]);
    let began = Instant::now();
    let mut client = TcpStream::connect(("127.0.0.1", port(&server))).expect("a connection");
    // The beginning of a ClientHello that never comes.
    client.write_all(&[0x16, 3, 1, 1, 0, 1]).expect("it is read");
    client.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[test]
fn certificates_that_cannot_be_used_are_told_of() {
    if !has("openssl") {
        return;
    }
    let (site, data) = (Site::new("unusable"), Scratch::new("data"));
    let one = Pair::make(&data, "one", "DNS:one.example");
    let two = Pair::make(&data, "two", "DNS:two.example");
    let folder = site.folder();
    for (options, expected) in [
        (&["--cert", text(&one.certificate)][..], "--key"),
        (&["--key", text(&one.key)], "--cert"),
        (&["--cert", text(&one.certificate), "--key", text(&two.key)], "two.key"),
        (&["--cert", text(&one.key), "--key", text(&one.key)], "one.key"),
        (&["--cert", "no-such-file", "--key", text(&one.key)], "no-such-file"),
        (&["--tls", "old"], "old"),
        (&["--tls", "--listen", "http://127.0.0.1:0"], "http://"),
        (&["--tls", "--client-ca", "no-such-file"], "no-such-file"),
    ] {
        let mut command = program();
        command.arg(&folder).args(options).env("XDG_DATA_HOME", data.path());
        let output = command.output().expect("it ends at once");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {complained}");
        assert!(complained.contains(expected), "{options:?}: {complained}");
        assert_eq!(complained.lines().count(), 1, "{options:?}: {complained}");
    }
}
