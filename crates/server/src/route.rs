//! Which handler may answer a request. There is one site and one handler today; hosts, paths and
//! their order come with the config file, and are compiled here when it is loaded.

use crate::request::Request;
use serval_proto::method::Method;

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// [`crate::handler::options`].
    Options,
    /// [`crate::handler::files`].
    Files,
}

/// Finds who answers.
#[inline]
pub fn route(request: &Request<'_>) -> Route {
    if request.method == Method::Options { Route::Options } else { Route::Files }
}
