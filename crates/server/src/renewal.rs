//! Certificates are read again when their files change, and when the program is told to (SIGHUP).
//! A broken one is complained of and changes nothing.

use serval_net::signal::Hangup;
use serval_net::timer::Timer;
use serval_net::tls::certificates::Certificates;
use std::io;
use std::pin::pin;
use std::time::Duration;

/// How often the files are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// Looks after the certificates for ever.
pub async fn keep(certificates: &Certificates, mut hangup: Hangup) -> io::Result<()> {
    let timer = Timer::new()?;
    loop {
        let asked = {
            let look = pin!(timer.wait(LOOK_INTERVAL));
            hangup.within(look).await
        };
        let outcome =
            if asked { certificates.reload().map(|()| true) } else { certificates.refresh() };
        match outcome {
            Ok(true) => eprintln!("serval: the certificates are read again"),
            Ok(false) => {}
            Err(problem) => {
                eprintln!("serval: {problem}; the certificates from before stay in use");
            }
        }
    }
}
