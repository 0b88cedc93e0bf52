//! OPTIONS: what may be done here (RFC 9110 §9.3.7). Every path and the server as a whole have the
//! same methods, so that the answer needs no look at the file.

use crate::error::{ALLOWED, Error};
use crate::response::Response;
use serval_proto::status::Status;

/// Answers with the methods.
pub fn answer(response: &mut Response) -> Result<(), Error> {
    response.reset(Status::NO_CONTENT);
    response.field("Allow", ALLOWED);
    Ok(())
}
