//! An encrypted connection before it speaks HTTP: the handshake, within its time, and the choice of
//! the protocol that was agreed on.

use crate::conn::h1::Connection;
use crate::error::Error;
use crate::worker::Worker;
use serval_net::accept::{Admission, Peer};
use serval_net::clock;
use serval_net::deadline::Deadline;
use serval_net::stream::Stream;
use serval_net::tls::session::Handshake;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Poll, ready};

/// Serves one client of an encrypted listener.
pub async fn serve(worker: Rc<Worker>, mut stream: Stream, peer: Peer, admission: Admission) {
    match shake_hands(&worker, &stream).await {
        Ok(()) => Connection::new(worker, stream, peer, admission).await,
        // Somebody typed http:// before the address, or nothing at all.
        Err(Handshake::NotTls) => {
            stream.give_up_encryption();
            let connection = Connection::new(worker, stream, peer, admission);
            connection.refused(Error::PlainText).await;
        }
        // The peer has been told what can be told.
        Err(Handshake::Refused(_) | Handshake::Broken(_)) => {}
    }
}

/// Brings the handshake to its end, or fails when its time is up or the server stops.
async fn shake_hands(worker: &Worker, stream: &Stream) -> Result<(), Handshake> {
    let mut deadline: Option<Deadline> = None;
    poll_fn(|cx| {
        let deadline = deadline.get_or_insert_with(|| {
            let deadline = worker.deadlines().register(cx.waker());
            deadline.set(clock::monotonic_ms() + worker.limits().handshake_timeout_ms);
            deadline
        });
        if deadline.has_passed(clock::monotonic_ms()) || worker.is_draining() {
            return Poll::Ready(Err(Handshake::Broken(io::ErrorKind::TimedOut.into())));
        }
        Poll::Ready(ready!(stream.poll_handshake(cx)))
    })
    .await
}
