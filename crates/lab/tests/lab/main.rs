//! The lab as its users run it: the built binary, real servers, real connections.

mod binary;
