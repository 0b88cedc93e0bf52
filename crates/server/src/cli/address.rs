//! Addresses to listen on, in all the ways that people write them.

use crate::config::plan::Listener;
use serval_net::listen::Address;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

/// Reads one `--listen`. A host name can stand for several addresses; without a scheme they are
/// `encrypted` or not.
pub fn parse(text: &str, encrypted: bool) -> Result<Vec<Listener>, String> {
    let plain = text.strip_prefix("http://");
    let secure = text.strip_prefix("https://");
    let encrypted = secure.is_some() || (encrypted && plain.is_none());
    let rest = plain.or(secure).map_or(text, |rest| rest.trim_end_matches('/'));
    let addresses = addresses(text, rest)?;
    Ok(addresses.into_iter().map(|address| Listener { address, encrypted }).collect())
}

/// The addresses that `rest` stands for, which is `text` without its scheme.
fn addresses(text: &str, rest: &str) -> Result<Vec<Address>, String> {
    let expected = || {
        format!(
            "{text:?} is not an address to listen on: expected something like 127.0.0.1:8080, \
             :8080, 8080, [::1]:8080 or unix:/path"
        )
    };
    if let Some(path) = rest.strip_prefix("unix:") {
        return match path {
            "" => Err(expected()),
            path => Ok(vec![Address::Unix(path.into())]),
        };
    }
    if let Ok(port) = rest.parse::<u16>() {
        return Ok(vec![Address::Tcp((Ipv4Addr::LOCALHOST, port).into())]);
    }
    if let Some(Ok(port)) = rest.strip_prefix(':').map(str::parse::<u16>) {
        return Ok(vec![Address::Tcp(everywhere(port))]);
    }
    if let Ok(address) = rest.parse::<SocketAddr>() {
        return Ok(vec![Address::Tcp(address)]);
    }
    let (host, port) = rest.rsplit_once(':').ok_or_else(expected)?;
    let port: u16 = port.parse().map_err(|_| expected())?;
    if host.is_empty() || host.contains([':', '/', '[', ']']) {
        return Err(expected());
    }
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|_| format!("{text:?}: no address is known for the name {host:?}"))?;
    let mut addresses: Vec<Address> = found.map(Address::Tcp).collect();
    addresses.dedup();
    Ok(addresses)
}

/// Every address of this machine, of both families where it has both.
fn everywhere(port: u16) -> SocketAddr {
    let has_ipv6 = std::net::UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).is_ok();
    if has_ipv6 {
        (Ipv6Addr::UNSPECIFIED, port).into()
    } else {
        (Ipv4Addr::UNSPECIFIED, port).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_the_ways_to_write_one() {
        let show = |text| match parse(text, false) {
            Ok(found) => {
                let shown = |found: &Listener| found.address.to_string();
                found.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error,
        };
        assert_eq!(show("127.0.0.1:80"), "127.0.0.1:80");
        assert_eq!(show("http://127.0.0.1:80/"), "127.0.0.1:80");
        assert_eq!(show("8080"), "127.0.0.1:8080");
        assert_eq!(show("[::]:8080"), "[::]:8080");
        assert!(show(":8080").ends_with(":8080") && show(":8080").contains("::]"));
        assert_eq!(show("unix:/run/a.sock"), "unix:/run/a.sock");
        assert!(show("localhost:0").contains("127.0.0.1:0"));
        for bad in [
            "",
            "x",
            "1.2.3.4",
            "1.2.3.4:99999",
            "unix:",
            "[::1",
            "a:b:80",
            "https://",
            "ftp://1.2.3.4:1",
        ] {
            assert!(parse(bad, false).is_err(), "{bad}");
        }
        let encrypted = |text, otherwise| parse(text, otherwise).unwrap()[0].encrypted;
        assert!(encrypted("https://127.0.0.1:443/", false) && encrypted("8443", true));
        assert!(!encrypted("http://127.0.0.1:80", true) && !encrypted("8080", false));
    }
}
