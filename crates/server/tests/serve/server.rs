//! The real program on a port that the system chose, ended when the test is over.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take that takes milliseconds on a machine at rest.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    links: Vec<String>,
    said: Arc<Mutex<String>>,
}

/// The program, not yet started.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_serval"))
}

impl Server {
    /// Serves `folder` on a port of its own, without a log unless `options` ask for one.
    pub(crate) fn start(folder: &Path, options: &[&str]) -> Server {
        let mut command = program();
        command.arg(folder).args(["--listen", "127.0.0.1:0"]).args(options);
        if !options.contains(&"--log") {
            command.args(["--log", "none"]);
        }
        Server::of(command)
    }

    /// Runs a command that starts the program, and waits until it says that it listens.
    pub(crate) fn of(mut command: Command) -> Server {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let stderr = BufReader::new(child.stderr.take().expect("its standard error"));
        let said = Arc::new(Mutex::new(String::new()));
        let links = listen_to(stderr, Arc::clone(&said));
        let mut server = Server { child, links: Vec::new(), said };
        server.links = match links.recv_timeout(PATIENCE) {
            Ok(links) => links,
            Err(error) => panic!("it does not listen ({error}): {}", server.said()),
        };
        server
    }

    /// The address of its first link.
    pub(crate) fn address(&self) -> SocketAddr {
        self.link("http://127").parse().expect("an address")
    }

    /// What follows `http://` in the first link that starts like that, without its last slash.
    pub(crate) fn link(&self, start: &str) -> &str {
        let link = self.links.iter().find(|link| link.starts_with(start));
        let link = link.unwrap_or_else(|| panic!("no {start} in {:?}", self.links));
        link.strip_prefix("http://").unwrap_or(link).trim_end_matches('/')
    }

    /// A link to a path on it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// What it has said on its standard error.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("no reader panics").clone()
    }

    /// Its standard output, where that was piped.
    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().expect("it was piped and not yet taken")
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    /// Waits until it has ended by itself.
    pub(crate) fn exit_status(&mut self) -> ExitStatus {
        wait_for("its end", || self.child.try_wait().expect("a child of ours"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again until there is something. Fails the test when patience ends.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Collects what the program says, and sends the links of its greeting when that is complete.
fn listen_to(
    stderr: impl BufRead + Send + 'static,
    said: Arc<Mutex<String>>,
) -> Receiver<Vec<String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut links = Vec::new();
        for line in stderr.lines().map_while(Result::ok) {
            if let Some(link) = line.strip_prefix("  ") {
                links.push(link.split(' ').next().unwrap_or_default().to_owned());
            }
            let is_complete = line.starts_with("Press ");
            said.lock().expect("no test panics with it").push_str(&(line + "\n"));
            if is_complete {
                let _ = sender.send(std::mem::take(&mut links));
            }
        }
    });
    receiver
}
