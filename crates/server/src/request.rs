//! A request as the pipeline sees it: of no particular version of HTTP.

use serval_proto::field::Fields;
use serval_proto::method::Method;

/// A request whose head has been read and found valid.
#[derive(Debug)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The path in canonical form; `*` for `OPTIONS *`.
    pub path: &'a [u8],
    /// The query without its question mark.
    pub query: Option<&'a [u8]>,
    /// The field lines.
    pub fields: Fields<'a>,
    /// Whether content comes with it.
    pub has_content: bool,
}
