//! The site that most tests serve: a file for each thing that can be asked of a file server, and
//! what must never be shown right beside it.

use crate::scratch::Scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// What lies beside the served folder and in its hidden files. No answer may hold it.
pub(crate) const SECRET: &str = "the-secret-that-no-answer-holds";

/// When every file was last changed: `Tue, 02 Jan 2024 03:04:05 GMT`.
const MODIFIED_UNIX_SECONDS: u64 = 1_704_164_645;

/// Files and what is in them, where that is written out.
const FILES: &[(&str, &str)] = &[
    ("index.html", "<h1>Home</h1>\n"),
    ("hello.txt", "hello, world\n"),
    ("digits.txt", "0123456789"),
    ("empty.txt", ""),
    ("page.html", "<p>page</p>\n"),
    ("style.css", "a{}\n"),
    ("script.js", "1;\n"),
    ("module.mjs", "1;\n"),
    ("data.json", "{}\n"),
    ("image.svg", "<svg/>\n"),
    ("photo.JPG", "jpg"),
    ("font.woff2", "woff2"),
    ("app.wasm", "wasm"),
    ("archive.tar.gz", "gz"),
    ("LICENSE", "free\n"),
    ("unknown.qqq", "<script>alert(1)</script>"),
    ("no-extension", "<html>"),
    ("a b.txt", "space\n"),
    ("über.txt", "umlaut\n"),
    ("100%.txt", "percent\n"),
    ("what?.txt", "question\n"),
    ("c#.txt", "hash\n"),
    ("back\\slash.txt", "backslash\n"),
    ("folder/inner.txt", "inner\n"),
    ("docs/index.html", "<h1>Docs</h1>\n"),
    ("docs/guide/index.html", "<h1>Guide</h1>\n"),
    ("docs/guide/a.txt", "a\n"),
    ("with space/index.html", "<h1>Space</h1>\n"),
    ("evil.example/index.html", "<h1>Evil</h1>\n"),
    ("\\evil.example/index.html", "<h1>Eviler</h1>\n"),
    (".well-known/security.txt", "Contact: mailto:a@b.example\n"),
    (".well-known/.private", SECRET),
    (".hidden.txt", SECRET),
    (".git/config", SECRET),
    ("docs/.env", SECRET),
    ("index.html~", SECRET),
    ("server.key", SECRET),
    ("cert.pem", SECRET),
];

/// Links and what they lead to, seen from where they are.
const LINKS: &[(&str, &str)] = &[
    ("link.txt", "hello.txt"),
    ("docs/up.txt", "../hello.txt"),
    ("linked-docs", "docs"),
    ("outside.txt", "../secret.txt"),
    ("outside", ".."),
    ("loop", "loop"),
    ("dangling", "nowhere"),
    ("hidden-link.txt", ".hidden.txt"),
    ("magic", "/proc/self/cwd"),
];

/// A folder to serve, and the folder around it.
#[derive(Debug)]
pub(crate) struct Site {
    around: Scratch,
    _socket: UnixListener,
}

impl Site {
    /// Makes the site. `name` helps whoever finds it after a crash.
    pub(crate) fn new(name: &str) -> Site {
        let around = Scratch::new(name);
        for (name, content) in FILES {
            around.write(&format!("site/{name}"), content);
        }
        around.write("site/numbers-100k.txt", numbers(100 << 10));
        around.write("site/numbers-3m.txt", numbers(3 << 20));
        around.write("secret.txt", SECRET);
        around.write("site-not/secret.txt", SECRET);
        age(&around.join("site"));
        for (link, target) in LINKS {
            symlink(target, around.join("site").join(link)).expect("a link");
        }
        let absolute = [
            ("absolute.txt", "site/hello.txt"),
            ("absolute-docs", "site/docs"),
            ("absolute-out.txt", "secret.txt"),
            ("absolute-prefix", "site-not"),
        ];
        for (link, target) in absolute {
            symlink(around.join(target), around.join("site").join(link)).expect("a link");
        }
        let fifo = around.join("site/fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a FIFO");
        let socket = UnixListener::bind(around.join("site/socket")).expect("a socket");
        Site { around, _socket: socket }
    }

    /// The same with a page of its own for what is not there.
    pub(crate) fn with_404_page(name: &str) -> Site {
        let site = Site::new(name);
        site.around.write("site/404.html", "<h1>Lost?</h1>\n");
        site
    }

    /// The folder to serve.
    pub(crate) fn folder(&self) -> PathBuf {
        self.around.join("site")
    }

    /// The folder around it.
    pub(crate) fn around(&self) -> &Scratch {
        &self.around
    }
}

/// Lines of eight bytes that count, so that every place in the file is known by what stands there.
pub(crate) fn numbers(size: usize) -> Vec<u8> {
    (0..size / 8).flat_map(|number| format!("{number:07}\n").into_bytes()).collect()
}

/// Gives every file below `folder` the same date, so that conversations can name it.
fn age(folder: &std::path::Path) {
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED_UNIX_SECONDS);
    for entry in std::fs::read_dir(folder).expect("a folder of ours") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            age(&path);
        } else {
            let file = File::options().append(true).open(path).expect("a file of ours");
            file.set_modified(modified).expect("a date");
        }
    }
}
