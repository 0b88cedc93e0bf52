//! A client that trusts nothing: it reads answers byte by byte as RFC 9112 has them, and fails
//! where one is not of that form.

use crate::server::PATIENCE;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer that is complete.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status_line: String,
    /// Field lines, as they came.
    pub(crate) lines: Vec<String>,
    pub(crate) body: Vec<u8>,
}

/// Whether an answer has a body: one to HEAD has none, whatever its fields say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    AsFramed,
    Never,
}

impl Answer {
    /// The code in the status line.
    pub(crate) fn status(&self) -> u16 {
        self.status_line[9..12].parse().expect("three digits")
    }

    /// The value of the first field of that name.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.lines.iter().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn of(head: &str) -> Answer {
        let mut lines = head.split("\r\n").map(str::to_owned);
        let status_line = lines.next().unwrap_or_default();
        let is_status_line = status_line.is_ascii()
            && status_line.starts_with("HTTP/1.1 ")
            && status_line.get(9..12).is_some_and(|code| code.parse::<u16>().is_ok())
            && status_line.get(12..13) == Some(" ");
        assert!(is_status_line, "no status line: {status_line:?}");
        let lines: Vec<String> = lines.collect();
        for line in &lines {
            let (name, value) = line.split_once(": ").expect("a colon and a space");
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            assert!(is_name && !name.is_empty(), "no field name: {line:?}");
            assert!(!value.bytes().any(|byte| byte.is_ascii_control()), "a control: {line:?}");
        }
        Answer { status_line, lines, body: Vec::new() }
    }

    /// How long its body is.
    fn body_length(&self) -> usize {
        let lengths = self.lines.iter().filter(|line| line.starts_with("Content-Length: ")).count();
        assert!(self.field("Transfer-Encoding").is_none(), "it never sends chunks");
        match self.status() {
            204 | 304 => {
                assert_eq!(lengths, 0, "no length where there is no body: {:?}", self.lines);
                0
            }
            _ => {
                assert_eq!(lengths, 1, "one length: {:?}", self.lines);
                self.field("Content-Length").expect("it is there").parse().expect("a number")
            }
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = &self.body[..self.body.len().min(200)];
        write!(f, "{:?}, {:?}, {:?}", self.status_line, self.lines, String::from_utf8_lossy(start))
    }
}

impl Client {
    /// Connects.
    pub(crate) fn new(address: SocketAddr) -> Client {
        Client::over(TcpStream::connect(address).expect("the server accepts"))
    }

    /// Uses a connection that is there. One to a path in the file system will do, too.
    pub(crate) fn over(stream: TcpStream) -> Client {
        let _ = stream.set_nodelay(true);
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit of time");
        stream.set_write_timeout(Some(PATIENCE)).expect("a limit of time");
        Client { stream, received: Vec::new() }
    }

    /// The connection.
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends all of `bytes`.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn end_writing(&self) {
        self.stream.shutdown(Shutdown::Write).expect("it is connected");
    }

    /// Asks for a path and reads the answer.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"))?;
        self.answer(Body::AsFramed)
    }

    /// Reads one whole answer. An error if the connection ended before that.
    pub(crate) fn answer(&mut self, body: Body) -> io::Result<Answer> {
        let mut answer = self.head()?;
        let length = answer.body_length();
        if body == Body::AsFramed {
            self.fill(length)?;
            answer.body = self.received.drain(..length).collect();
        }
        Ok(answer)
    }

    /// Reads an answer's head and leaves its body to come.
    pub(crate) fn head(&mut self) -> io::Result<Answer> {
        let mut searched: usize = 0;
        let end = loop {
            let from = searched.saturating_sub(3);
            if let Some(at) = self.received[from..].windows(4).position(|four| four == b"\r\n\r\n")
            {
                break from + at;
            }
            searched = self.received.len();
            self.fill(searched + 1)?;
        };
        let head: Vec<u8> = self.received.drain(..end + 4).collect();
        Ok(Answer::of(std::str::from_utf8(&head[..end]).expect("heads of ours are ASCII")))
    }

    /// Reads `length` bytes of a body.
    pub(crate) fn body(&mut self, length: usize) -> io::Result<Vec<u8>> {
        self.fill(length)?;
        Ok(self.received.drain(..length).collect())
    }

    /// How many bytes have been received and not been asked for yet.
    pub(crate) fn buffered(&self) -> usize {
        self.received.len()
    }

    /// Reads until the server ends the connection: what came before that. A reset is an error.
    pub(crate) fn rest(&mut self) -> io::Result<Vec<u8>> {
        self.stream.read_to_end(&mut self.received)?;
        Ok(std::mem::take(&mut self.received))
    }

    /// Whether anything comes, or the end, within that time.
    pub(crate) fn hears_within(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).expect("a limit of time");
        let heard = self.fill(self.received.len() + 1);
        self.stream.set_read_timeout(Some(PATIENCE)).expect("a limit of time");
        !heard.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Reads until so many bytes have been received.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        while self.received.len() < length {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
