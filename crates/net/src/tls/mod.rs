//! TLS: what is needed to accept encrypted connections. The cryptography is rustls's; how its
//! records get to and from the socket, and where certificates come from, is here.

pub mod authority;
pub mod certificates;
pub mod session;
pub mod settings;
