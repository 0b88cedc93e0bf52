//! The life of a request, in order, on one screen: a handler answers, an error becomes an answer,
//! filters may change it. It does not know which version of HTTP the request came in.

use crate::error::Error;
use crate::files::view::View;
use crate::filter::error_page;
use crate::handler::{files, options};
use crate::request::Request;
use crate::response::Response;
use crate::route::{Route, route};
use serval_proto::method::Method;
use serval_proto::status::Status;

/// What a worker brings to the pipeline.
#[derive(Debug)]
pub struct Context {
    /// The files.
    pub view: View,
    /// The time, in milliseconds of the monotonic clock.
    pub now_ms: u64,
    /// The time, in seconds since 1970.
    pub unix_seconds: i64,
}

/// Answers a request.
#[inline]
pub fn respond(context: &mut Context, request: &Request<'_>, response: &mut Response) {
    response.reset(Status::OK);
    let answered = match route(request) {
        Route::Files => files::answer(context, request, response),
        Route::Options => options::answer(response),
    };
    if let Err(error) = answered {
        error.answer(response);
        error_page::apply(context, error, response);
    }
    if request.method == Method::Head {
        response.drop_body();
    }
}

/// Answers a request that could not be read: its connection will close.
pub fn refuse(error: Error, response: &mut Response) {
    error.answer(response);
}
