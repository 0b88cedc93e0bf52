//! What the program says when it starts: what it serves, where, and how to stop it.

use crate::config::plan::Listener;
use serval_net::listen::Address;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Prints it to standard error, so that standard output holds the log and nothing else.
pub fn print(folder: &Path, listeners: &[Listener], authority: Option<&Path>) {
    let mut error = std::io::stderr().lock();
    let (bold, reset) = if error.is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        ("\x1b[1m", "\x1b[0m")
    } else {
        ("", "")
    };
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let _ = writeln!(error, "Serving {bold}{}{reset}", folder.display());
    for line in listeners.iter().flat_map(lines) {
        let _ = writeln!(error, "  {line}");
    }
    if let Some(authority) = authority {
        let authority = authority.display();
        let _ = writeln!(
            error,
            "The certificate is from your own authority. To trust it, import\n  {authority}\n\
             into the browser's authorities, or tell curl: --cacert {authority}"
        );
    }
    let _ = writeln!(error, "Press Ctrl-C to stop.");
}

/// The lines for one address: for one that means all, those of this machine, so that a phone on
/// the same network can be pointed at one.
fn lines(listener: &Listener) -> Vec<String> {
    let scheme = if listener.encrypted { "https" } else { "http" };
    let address = match &listener.address {
        Address::Tcp(address) => address,
        Address::Unix(_) if listener.encrypted => {
            return vec![format!("https://{}", listener.address)];
        }
        Address::Unix(_) => return vec![listener.address.to_string()],
    };
    let url = |ip: IpAddr| format!("{scheme}://{}/", SocketAddr::new(ip, address.port()));
    if !address.ip().is_unspecified() {
        return vec![url(address.ip())];
    }
    let mut lines = vec![format!("{}  on this machine", url([127, 0, 0, 1].into()))];
    for interface in if_addrs::get_if_addrs().unwrap_or_default() {
        let ip = interface.ip();
        let is_shown = match ip {
            IpAddr::V4(ip) => !ip.is_link_local(),
            IpAddr::V6(ip) => address.is_ipv6() && !ip.is_unicast_link_local(),
        };
        if is_shown && !interface.is_loopback() {
            lines.push(format!("{}  on the network ({})", url(ip), interface.name));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_a_link() {
        let lines = |text: &str| {
            let address = Address::Tcp(text.parse().unwrap());
            lines(&Listener { address, encrypted: false })
        };
        assert_eq!(lines("127.0.0.1:80"), ["http://127.0.0.1:80/"]);
        assert_eq!(lines("[::1]:80"), ["http://[::1]:80/"]);
        assert!(lines("0.0.0.0:81")[0].starts_with("http://127.0.0.1:81/"));
    }
}
