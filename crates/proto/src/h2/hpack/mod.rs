//! Header compression (RFC 7541): names and values as indices, literals and Huffman codes.
//!
//! A [`Decoder`] and an [`Encoder`] belong to one direction of one connection, since both ends
//! keep a table of what was sent. [`literal`] writes what needs no table: such a block is right on
//! every connection and can be made once and kept.

pub mod literal;

mod decoder;
mod dynamic_table;
mod encoder;
mod huffman;
mod integer;
mod static_table;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// A block that cannot be decoded. The tables of the two ends differ from here on, so that it ends
/// the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It is not a header block, or refers to what no table has: COMPRESSION_ERROR.
    Undecodable,
    /// A few bytes stand for far more than the limits allow: ENHANCE_YOUR_CALM.
    Bomb,
}

/// What is decoded is not what the standard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Undecodable;

impl From<Undecodable> for Failure {
    fn from(_: Undecodable) -> Failure {
        Failure::Undecodable
    }
}
