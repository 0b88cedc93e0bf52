//! Nothing outside the root and nothing hidden is ever sent, whatever a path looks like: thousands
//! of mutated paths, and links that are swapped while they are followed.

use crate::client::{Body, Client};
use crate::scratch::Scratch;
use crate::server::Server;
use crate::site::{SECRET, Site};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many paths are tried.
const PATHS: usize = 6000;

/// Where the choices begin: a failure is repeated by the same number.
const SEED: u64 = 0x5eed_0f5e_cafe_d00d;

/// How many names are asked for while links are swapped.
const RACES: usize = 600;

/// What paths are made of: ways up, ways to write slashes and dots, names, and noise.
const PIECES: &[&str] = &[
    "..",
    "../",
    "../../",
    "/..",
    "/../",
    "..\\",
    "\\..\\",
    "..;/",
    ".../",
    "....//",
    "./",
    "//",
    "/./",
    "%2e%2e/",
    "%2e./",
    ".%2e/",
    "%2E%2E%2F",
    "..%2f",
    "%2e%2e%5c",
    "..%5c",
    "%5c",
    "%2f",
    "%252e%252e/",
    "..%252f",
    "%25%32%65%25%32%65/",
    "%c0%ae%c0%ae/",
    "..%c0%af",
    "%e0%80%ae/",
    "%f0%80%80%ae",
    "%u002e%u002e/",
    "%ef%bc%8f",
    "..%00/",
    "%00",
    "%0a",
    "%0d%0a",
    "%20",
    "?",
    "??/..",
    "#",
    ";a=b",
    "*",
    "~",
    ".",
    "%",
    "%2",
    "%zz",
    "\\",
    "/",
    "/",
    "/",
    "secret.txt",
    "secret.txt",
    "secret.txt%00.html",
    "outside",
    "outside.txt",
    "outside/secret.txt",
    "absolute-out.txt",
    "absolute-prefix/secret.txt",
    "magic",
    "magic/site/../secret.txt",
    "proc/self/root",
    "linked-docs/../..",
    "docs",
    "docs/guide",
    "docs/.env",
    ".git/config",
    ".hidden.txt",
    "hidden-link.txt",
    ".well-known/../.hidden.txt",
    ".well-known/.private",
    "index.html~",
    "server.key",
    "cert.pem",
    "SERVER.KEY",
    "site/../secret.txt",
    "site-not",
    "hello.txt",
    "loop",
    "fifo",
    "\u{2024}\u{2024}/",
    "\u{ff0e}\u{ff0e}/",
    "ü",
    "\u{7f}",
];

/// Numbers that look like chance and are the same every time (xorshift64*).
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn piece(&mut self) -> &'static str {
        PIECES[self.below(PIECES.len())]
    }

    /// A path, now and then very long, in absolute form, or with a byte replaced by any other.
    fn target(&mut self) -> Vec<u8> {
        let mut target = match self.below(20) {
            0 => b"http://a/".to_vec(),
            1 => b"http://a".to_vec(),
            2 => Vec::new(),
            _ => b"/".to_vec(),
        };
        let pieces = 1 + self.below(8);
        for _ in 0..pieces {
            let times = if self.below(40) == 0 { 1 + self.below(400) } else { 1 };
            target.extend(self.piece().as_bytes().repeat(times));
        }
        if self.below(3) == 0 {
            target.extend_from_slice(b"/secret.txt");
        }
        if self.below(4) == 0 && !target.is_empty() {
            let at = self.below(target.len());
            target[at] = self.below(256) as u8;
        }
        target
    }
}

/// Sends a request for a target and reads what comes; a new connection where the old one closed.
fn ask(client: &mut Option<Client>, server: &Server, target: &[u8]) -> Vec<u8> {
    let connection = client.get_or_insert_with(|| Client::new(server.address()));
    let request = [b"GET ", target, b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
    connection.send(request).expect("it is read");
    let answer = connection.answer(Body::AsFramed).expect("an answer to everything");
    if answer.field("Connection") == Some("close") {
        *client = None;
    }
    [answer.lines.join("\n").into_bytes(), answer.body].concat()
}

fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
}

#[test]
fn no_mutated_path_leads_to_the_secret() {
    let site = Site::new("escape");
    // What is searched for is there to be found.
    assert!(holds_secret(&std::fs::read(site.around().join("secret.txt")).expect("a secret")));
    let server = Server::start(&site.folder(), &[]);
    let mut client = None;
    for piece in PIECES.iter().filter(|piece| !piece.contains('\u{7f}')) {
        let bytes = ask(&mut client, &server, format!("/{piece}").as_bytes());
        // The one way that is open: what a link to a hidden name shows is the operator's choice.
        assert!(!holds_secret(&bytes) || *piece == "hidden-link.txt", "/{piece}");
    }
    let mut choices = Choices(SEED);
    for number in 0..PATHS {
        let target = choices.target();
        let bytes = ask(&mut client, &server, &target);
        let text = String::from_utf8_lossy(&target);
        assert!(!holds_secret(&bytes) || text.contains("hidden-link.txt"), "{number}: {text}");
    }
    // It is as well as before.
    let mut client = Client::new(server.address());
    assert_eq!(client.get("/hello.txt").expect("an answer").body, b"hello, world\n");
}

/// A name that is a folder inside at one moment and a link out at the next, under every way that a
/// link can be written.
#[test]
fn a_link_that_is_swapped_while_it_is_followed_leads_nowhere() {
    let scratch = Scratch::new("race");
    // A name of its own for each try, or the cache would answer.
    for number in 0..RACES {
        scratch.write(&format!("site/inside/{number}"), "harmless");
        scratch.write(&format!("site/way/deep/{number}"), "harmless");
        scratch.write(&format!("outside/{number}"), SECRET);
    }
    let site = scratch.join("site");
    symlink("../outside", site.join("relative")).expect("a link");
    symlink(scratch.join("outside"), site.join("absolute")).expect("a link");
    symlink("../../outside", site.join("way/up")).expect("a link");
    symlink(site.join("inside"), site.join("through")).expect("a link");
    let server = Server::start(&site, &[]);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = |a: &str, b: &str| {
                renameat_with(CWD, site.join(a), CWD, site.join(b), RenameFlags::EXCHANGE)
                    .expect("both are there");
            };
            while !stop.load(Ordering::Relaxed) {
                exchange("inside", "relative");
                exchange("way/deep", "way/up");
                exchange("relative", "absolute");
            }
        });
        let mut found = [0; 2];
        let mut leaked = None;
        let mut client = Client::new(server.address());
        let folders = ["inside", "way/deep", "through", "relative", "absolute"];
        for (number, folder) in (0..RACES).flat_map(|number| folders.map(|folder| (number, folder)))
        {
            let path = format!("/{folder}/{number}");
            let answer = client.get(&path).expect("an answer");
            found[usize::from(answer.status() == 200)] += 1;
            if holds_secret(&answer.body) {
                leaked = Some(path);
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(leaked, None);
        println!("{} answers with a file, {} without", found[1], found[0]);
    });
}
