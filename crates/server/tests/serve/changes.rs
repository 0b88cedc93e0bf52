//! Files that change while they are served: every byte of every answer is checked.
//!
//! Guaranteed, and tried here: an answer that is complete is one version of the file, never a mix
//! of two and never padded; one that is short ends in a connection that closes; what is new is seen
//! soon. A file that is replaced by a rename, appended to, truncated or deleted may change at any
//! time. One that is written over in place is another matter: to write it is not atomic, so that
//! whoever reads it meanwhile, server or not, may read half of each. There the guarantee is for
//! answers that began before: they are the old version, or, where the file is too large to be
//! copied, they break off.

use crate::client::{Answer, Body, Client};
use crate::scratch::Scratch;
use crate::server::{Server, wait_for};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The length of a record, in bytes.
const RECORD: usize = 64;

/// A small file is kept in memory, a middling one as a copy, a large one is sent from where it is.
const SIZES: [(&str, usize); 3] = [("small", 1 << 10), ("middling", 100 << 10), ("large", 3 << 20)];

/// How many threads fetch while files change.
const READERS: usize = 2;

/// How often each kind of change is made.
const ROUNDS: u32 = 8;

/// A version of a file: each record says which, and where in the file it stands.
fn content(version: u32, size: usize) -> Vec<u8> {
    let mut record = format!("v={version:04} off=00000000 {:-<43}\n", "").into_bytes();
    assert_eq!(record.len(), RECORD);
    let mut bytes = Vec::with_capacity(size + RECORD);
    while bytes.len() < size {
        let mut rest = bytes.len();
        for digit in record[11..19].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        bytes.extend_from_slice(&record);
    }
    bytes
}

/// Which version a body is; an error if it is none or several.
fn version_of(body: &[u8]) -> Result<u32, String> {
    let text = |range| std::str::from_utf8(body.get(range).unwrap_or_default()).unwrap_or_default();
    let version = text(2..6).parse().map_err(|_| format!("no record: {:?}", text(0..RECORD)))?;
    let expected = content(version, body.len().next_multiple_of(RECORD));
    match body.iter().zip(&expected).position(|(found, wanted)| found != wanted) {
        None => Ok(version),
        Some(at) => {
            let from = at / RECORD * RECORD;
            let found = String::from_utf8_lossy(&body[from..(from + RECORD).min(body.len())]);
            Err(format!("version {version}, but at {at} of {}: {found:?}", body.len()))
        }
    }
}

/// A folder of such files, its server, and what goes wrong.
struct Stage {
    scratch: Scratch,
    server: Server,
    errors: Mutex<Vec<String>>,
    complete: AtomicU64,
    broken_off: AtomicU64,
}

impl Stage {
    fn new(name: &str, root: &str) -> Stage {
        let scratch = Scratch::new(name);
        scratch.write("site/index.html", "");
        for (name, size) in SIZES {
            scratch.write(&format!("site/{name}"), content(1, size));
        }
        if root != "site" {
            symlink("site", scratch.join(root)).expect("a link");
        }
        let server = Server::start(&scratch.join(root), &[]);
        let (complete, broken_off) = (AtomicU64::new(0), AtomicU64::new(0));
        Stage { scratch, server, errors: Mutex::default(), complete, broken_off }
    }

    /// Fetches the paths over and over while `change` runs, and holds each complete answer against
    /// `check`.
    fn under_load(
        &self,
        paths: &[&str],
        check: impl Fn(&str, &Answer) -> Result<(), String> + Sync,
        change: impl FnOnce(),
    ) {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    let mut client = Client::new(self.server.address());
                    for path in paths.iter().cycle() {
                        if done.load(Ordering::Relaxed) {
                            break;
                        }
                        let outcome = match client.get(path) {
                            Ok(answer) => {
                                self.complete.fetch_add(1, Ordering::Relaxed);
                                check(path, &answer)
                            }
                            Err(_) => {
                                // Short, and the connection is over: said truthfully.
                                self.broken_off.fetch_add(1, Ordering::Relaxed);
                                client = Client::new(self.server.address());
                                Ok(())
                            }
                        };
                        if let Err(error) = outcome {
                            let error = format!("{path}: {error}");
                            self.errors.lock().expect("nobody panics with it").push(error);
                        }
                    }
                });
            }
            let _done = OnDrop(&done);
            change();
        });
        let errors = self.errors.lock().expect("nobody panicked with it");
        assert!(errors.is_empty(), "{} wrong, the first: {}", errors.len(), errors[0]);
        let (complete, broken_off) = (&self.complete, &self.broken_off);
        println!("{complete:?} complete, {broken_off:?} broken off");
        assert!(complete.load(Ordering::Relaxed) > 0);
    }

    /// Waits until a path is answered as it should be by now.
    fn wait_until(&self, path: &str, is_right: impl Fn(&Answer) -> bool) {
        let began = Instant::now();
        wait_for(&format!("the change of {path}"), || {
            let answer = Client::new(self.server.address()).get(path).ok();
            answer.filter(&is_right).map(drop)
        });
        let took = began.elapsed();
        assert!(took < Duration::from_secs(10), "{path} was out of date for {took:?}");
    }

    fn replace(&self, name: &str, bytes: &[u8]) {
        let fresh = self.scratch.write("fresh", bytes);
        std::fs::rename(fresh, self.scratch.join(name)).expect("a rename");
    }
}

/// Tells the readers to end, also where the change panicked.
struct OnDrop<'a>(&'a AtomicBool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A complete answer is one version of a file of that size.
fn one_version(path: &str, answer: &Answer) -> Result<(), String> {
    let version = version_of(&answer.body)?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let size = SIZES.iter().find(|(known, _)| *known == name).expect("a known file").1;
    if answer.status() != 200 || answer.body.len() != size {
        return Err(format!("{} of version {version}", answer.status_line));
    }
    Ok(())
}

fn is_version(answer: &Answer, version: u32) -> bool {
    answer.status() == 200 && version_of(&answer.body) == Ok(version)
}

#[test]
fn replaced_by_a_rename() {
    let stage = Stage::new("replaced", "site");
    stage.under_load(&["/small", "/middling", "/large"], one_version, || {
        for version in 2..2 + ROUNDS {
            for (name, size) in SIZES {
                stage.replace(&format!("site/{name}"), &content(version, size));
            }
            for (name, _) in SIZES {
                stage.wait_until(&format!("/{name}"), |answer| is_version(answer, version));
            }
        }
    });
}

/// One that only grows is sent as far as it was when its answer began.
#[test]
fn appended_to() {
    let stage = Stage::new("appended", "site");
    let check = |_: &str, answer: &Answer| match answer.status() {
        200 => version_of(&answer.body).map(drop),
        _ => Err(answer.status_line.clone()),
    };
    stage.under_load(&["/small", "/middling", "/large"], check, || {
        for round in 1..=ROUNDS as usize {
            for (name, size) in SIZES {
                // From small to middling to large, too: the kind of the entry changes.
                let (before, after) =
                    (size + (round - 1) * (200 << 10), size + round * (200 << 10));
                let path = stage.scratch.join("site").join(name);
                let file = OpenOptions::new().append(true).open(path).expect("a file");
                let whole = content(1, after);
                std::io::Write::write_all(&mut &file, &whole[before..]).expect("room");
                let is_right = |answer: &Answer| {
                    answer.body.len() == after && version_of(&answer.body) == Ok(1)
                };
                stage.wait_until(&format!("/{name}"), is_right);
            }
        }
    });
    assert_eq!(stage.broken_off.load(Ordering::Relaxed), 0, "what was announced still stands");
}

#[test]
fn truncated_and_deleted() {
    let stage = Stage::new("truncated", "site");
    let check = |path: &str, answer: &Answer| match answer.status() {
        404 => Ok(()),
        _ => {
            let size = SIZES.iter().find(|(known, _)| path[1..] == **known).expect("known").1;
            let is_known = [size, size / 2, RECORD].contains(&answer.body.len());
            version_of(&answer.body)?;
            if is_known { Ok(()) } else { Err(format!("{} bytes", answer.body.len())) }
        }
    };
    stage.under_load(&["/small", "/middling", "/large"], check, || {
        for version in 2..2 + ROUNDS {
            for (name, size) in SIZES {
                let (path, name) = (stage.scratch.join("site").join(name), format!("/{name}"));
                for length in [size / 2, RECORD] {
                    let file = OpenOptions::new().write(true).open(&path).expect("a file");
                    file.set_len(length as u64).expect("a shorter file");
                    stage.wait_until(&name, |answer| answer.body.len() == length);
                }
                std::fs::remove_file(&path).expect("it is there");
                stage.wait_until(&name, |answer| answer.status() == 404);
                stage.replace(&format!("site{name}"), &content(version, size));
                stage.wait_until(&name, |answer| is_version(answer, version));
            }
        }
    });
}

/// Swaps what a link leads to, as a deployment does: a new link beside it, and a rename.
fn point(link: &Path, target: &str) {
    let fresh = link.with_extension("fresh");
    symlink(target, &fresh).expect("a link");
    std::fs::rename(fresh, link).expect("a rename");
}

fn release(scratch: &Scratch, folder: &str, version: u32) {
    for (name, size) in SIZES {
        scratch.write(&format!("{folder}/{name}"), content(version, size));
    }
}

#[test]
fn a_link_to_a_release_is_swapped() {
    let stage = Stage::new("release", "site");
    release(&stage.scratch, "site/release-1", 1);
    let link = stage.scratch.join("site/current");
    symlink("release-1", &link).expect("a link");
    let paths = ["/current/small", "/current/middling", "/current/large"];
    stage.under_load(&paths, one_version, || {
        for version in 2..2 + ROUNDS {
            release(&stage.scratch, &format!("site/release-{version}"), version);
            point(&link, &format!("release-{version}"));
            for path in paths {
                stage.wait_until(path, |answer| is_version(answer, version));
            }
            let old = stage.scratch.join(&format!("site/release-{}", version - 1));
            std::fs::remove_dir_all(old).expect("the release before");
        }
    });
}

#[test]
fn the_root_itself_is_a_link_that_is_swapped() {
    let stage = Stage::new("root-link", "current");
    let link = stage.scratch.join("current");
    stage.under_load(&["/small", "/middling", "/large"], one_version, || {
        for version in 2..2 + ROUNDS {
            release(&stage.scratch, &format!("release-{version}"), version);
            point(&link, &format!("release-{version}"));
            for (name, _) in SIZES {
                stage.wait_until(&format!("/{name}"), |answer| is_version(answer, version));
            }
        }
    });
}

/// A folder is moved away and another put in its place.
#[test]
fn a_folder_is_swapped() {
    let stage = Stage::new("folder", "site");
    release(&stage.scratch, "site/live", 1);
    let paths = ["/live/small", "/live/middling", "/live/large"];
    let check = |path: &str, answer: &Answer| match answer.status() {
        // For a moment there is none of that name.
        404 => Ok(()),
        _ => one_version(path, answer),
    };
    stage.under_load(&paths, check, || {
        for version in 2..2 + ROUNDS {
            release(&stage.scratch, "site/next", version);
            let place = |name: &str| stage.scratch.join("site").join(name);
            std::fs::rename(place("live"), place("old")).expect("a rename");
            std::fs::rename(place("next"), place("live")).expect("a rename");
            for path in paths {
                stage.wait_until(path, |answer| is_version(answer, version));
            }
            std::fs::remove_dir_all(place("old")).expect("the folder before");
        }
    });
}

/// Answers that began before a file is written over are the old version, or break off.
#[test]
fn written_over_in_place() {
    let stage = Stage::new("in-place", "site");
    // Larger than what the buffers of two sockets hold, so that the answer is under way.
    let sizes = [("small", 1 << 10), ("middling", 100 << 10), ("large", 48 << 20)];
    for version in 2..2 + ROUNDS / 2 {
        for (name, size) in sizes {
            let path = stage.scratch.write(&format!("site/{name}"), content(version, size));
            let file = OpenOptions::new().write(true).open(path).expect("a file");
            // Old enough for the change to show in its date.
            let past = SystemTime::now() - Duration::from_secs(3600);
            file.set_modified(past).expect("a date");
            let name = format!("/{name}");
            stage.wait_until(&name, |answer| is_version(answer, version));
            let mut client = Client::new(stage.server.address());
            client.send(format!("GET {name} HTTP/1.1\r\nHost: a\r\n\r\n")).expect("it is read");
            let head = client.head().expect("an answer");
            assert_eq!(head.field("Content-Length"), Some(size.to_string().as_str()));
            let mut body = client.body(RECORD).expect("a first record");
            overwrite(&file, version + 100, size);
            match client.body(size - RECORD) {
                Ok(rest) => {
                    body.extend(rest);
                    assert_eq!(version_of(&body), Ok(version), "{name} is complete");
                }
                Err(_) if name == "/large" => {}
                Err(error) => panic!("{name} was copied, and broke off: {error}"),
            }
            stage.wait_until(&name, |answer| is_version(answer, version + 100));
        }
    }
}

/// All of an answer has been sent, and its end has not been read, when its file is written over, or
/// cut short and filled up again: what was sent must not be the file's own memory.
#[test]
fn written_over_when_all_is_sent() {
    const UNREAD: usize = 96 << 10;
    let stage = Stage::new("sent", "site");
    let mut wrong = Vec::new();
    for (name, size) in SIZES.into_iter().filter(|(_, size)| *size > UNREAD) {
        for version in [2, 3] {
            let path = stage.scratch.write(&format!("site/{name}"), content(version, size));
            stage.wait_until(&format!("/{name}"), |answer| is_version(answer, version));
            let mut client = Client::new(stage.server.address());
            set_socket_recv_buffer_size(client.stream(), 4 * UNREAD).expect("room for the rest");
            client.send(format!("GET /{name} HTTP/1.1\r\nHost: a\r\n\r\n")).expect("it is read");
            client.head().expect("an answer");
            let mut body = client.body(size - UNREAD).expect("most of the file");
            let unread = UNREAD - client.buffered();
            wait_for("the rest, unread", || {
                let arrived = rustix::io::ioctl_fionread(client.stream()).expect("a socket");
                (arrived >= unread as u64).then_some(())
            });
            let file = OpenOptions::new().write(true).open(path).expect("a file");
            if version == 3 {
                file.set_len(RECORD as u64).expect("a shorter file");
            }
            overwrite(&file, version + 100, size);
            // A client that is told by a reset that its file is no good is not misled.
            if let Ok(rest) = client.body(UNREAD) {
                body.extend(rest);
                wrong.extend(version_of(&body).err().map(|error| format!("{name}: {error}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Answers wait unread while the second changes and others get theirs with a new date.
#[test]
fn a_head_that_waits_keeps_its_date() {
    let stage = Stage::new("date", "site");
    let server = Server::start(&stage.scratch.join("site"), &["--workers", "1"]);
    let mut others = Client::new(server.address());
    for (name, size) in SIZES {
        let path = format!("/{name}");
        for _ in 0..2 {
            // Often enough for whatever the server does for files that are often asked for.
            for _ in 0..100 {
                others.get(&path).expect("an answer");
            }
            let mut waiting = Client::new(server.address());
            waiting.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).expect("it is read");
            wait_for("the head, unread", || {
                let arrived = rustix::io::ioctl_fionread(waiting.stream()).expect("a socket");
                (arrived > 500).then_some(())
            });
            let date = |answer: &Answer| answer.field("Date").expect("a date").to_owned();
            let before = date(&others.get(&path).expect("an answer"));
            wait_for("another second", || {
                (date(&others.get(&path).expect("an answer")) != before).then_some(())
            });
            let answer = waiting.answer(Body::AsFramed).expect("an answer");
            let dated = serval_proto::date::parse(date(&answer).as_bytes(), 0).expect("a date");
            let latest = serval_proto::date::parse(before.as_bytes(), 0).expect("a date");
            assert!((latest - 60..=latest).contains(&dated), "{answer}");
            assert_eq!((answer.body.len(), version_of(&answer.body)), (size, Ok(1)));
        }
    }
}

fn overwrite(file: &File, version: u32, size: usize) {
    file.write_all_at(&content(version, size), 0).expect("room");
}

/// The same number of bytes in the same second, and the date set back: what `rsync --inplace -t`
/// and unpackers do.
#[test]
fn written_over_with_its_date_kept() {
    let stage = Stage::new("same-date", "site");
    let date = SystemTime::now() - Duration::from_secs(86_400);
    for version in 2..2 + ROUNDS {
        for (name, size) in SIZES {
            let path = stage.scratch.join("site").join(name);
            let file = OpenOptions::new().write(true).open(path).expect("a file");
            overwrite(&file, version, size);
            file.set_modified(date).expect("a date");
            stage.wait_until(&format!("/{name}"), |answer| is_version(answer, version));
        }
    }
}
