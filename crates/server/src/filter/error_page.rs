//! A site's own page for what is not there: `404.html` at its root.

use crate::error::Error;
use crate::files::entry::FieldSet;
use crate::pipeline::Context;
use crate::response::Response;
use serval_proto::h1::write;
use serval_proto::status::Status;

const PAGE: &[u8] = b"/404.html";

/// Puts the site's page in the place of the built-in one, if the site has it.
pub fn apply(context: &mut Context, error: Error, response: &mut Response) {
    if error != Error::Client(Status::NOT_FOUND) {
        return;
    }
    let Ok(entry) = context.view.entry(PAGE, context.now_ms) else { return };
    let Some(file) = entry.file() else { return };
    let (size, media_type) = (file.size(), file.media_type());
    // None of the page's own validators: they are those of a file, not of what is not there.
    response.reset(Status::NOT_FOUND);
    response.field("Content-Type", media_type.as_bytes());
    response.field("X-Content-Type-Options", b"nosniff");
    write::number_field("Content-Length", size, &mut response.fields);
    response.set_file(entry, FieldSet::None);
    response.push_file(0..size);
}
