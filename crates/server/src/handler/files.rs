//! Files: GET and HEAD of what is below the root, with preconditions and ranges.

use crate::error::Error;
use crate::files::entry::{FieldSet, FileEntry, Kind};
use crate::files::view::Held;
use crate::pipeline::Context;
use crate::request::Request;
use crate::response::Response;
use serval_proto::conditional::{self, Verdict};
use serval_proto::field::{Fields, Name};
use serval_proto::h1::write;
use serval_proto::method::Method;
use serval_proto::multipart::Framing;
use serval_proto::range::{self, ByteRange, Selection};
use serval_proto::status::Status;
use serval_proto::target;
use std::hash::{BuildHasher, RandomState};

/// Answers with the file that the path leads to.
#[inline]
pub fn answer(
    context: &mut Context,
    request: &Request<'_>,
    response: &mut Response,
) -> Result<(), Error> {
    if !matches!(request.method, Method::Get | Method::Head) {
        return Err(Error::Method);
    }
    if request.has_content {
        return Err(Error::Client(Status::CONTENT_TOO_LARGE));
    }
    let entry = context.view.entry(request.path, context.now_ms).map_err(Error::System)?;
    match entry.kind() {
        Kind::File(file) => {
            if is_plain(&request.fields) {
                whole(file.size(), entry.clone(), response);
                return Ok(());
            }
            conditional_file(context, request, file, &entry, response)
        }
        Kind::Folder => {
            add_slash(request, response);
            Ok(())
        }
        Kind::Missing => Err(Error::Client(Status::NOT_FOUND)),
        Kind::Forbidden => Err(Error::Client(Status::FORBIDDEN)),
    }
}

/// Whether no field asks for anything but the file as it is.
#[inline]
fn is_plain(fields: &Fields<'_>) -> bool {
    const ASKING: [Name; 5] = [
        Name::IfNoneMatch,
        Name::IfModifiedSince,
        Name::Range,
        Name::IfMatch,
        Name::IfUnmodifiedSince,
    ];
    !ASKING.iter().any(|name| fields.has(*name))
}

#[inline]
fn whole(size: u64, entry: Held, response: &mut Response) {
    response.set_file(entry, FieldSet::Whole);
    response.push_file(0..size);
}

/// Preconditions first, then the range (RFC 9110 §13.2.2, §14.2).
fn conditional_file(
    context: &Context,
    request: &Request<'_>,
    file: &FileEntry,
    entry: &Held,
    response: &mut Response,
) -> Result<(), Error> {
    let (fields, now) = (&request.fields, context.unix_seconds);
    let validators = file.validators();
    match conditional::evaluate(fields, true, Some(&validators), now) {
        Verdict::PreconditionFailed => return Err(Error::Client(Status::PRECONDITION_FAILED)),
        Verdict::NotModified => {
            response.status = Status::NOT_MODIFIED;
            response.set_file(entry.clone(), FieldSet::Validators);
            return Ok(());
        }
        Verdict::Proceed => {}
    }
    let selection = match fields.get(Name::Range) {
        // Ranges are defined for GET alone, and a field that came twice is not one.
        Some(value)
            if request.method == Method::Get
                && !fields.is_repeated(Name::Range)
                && conditional::range_applies(fields, Some(&validators), now) =>
        {
            range::select(value, file.size())
        }
        _ => Selection::Whole,
    };
    match selection {
        Selection::Whole => whole(file.size(), entry.clone(), response),
        Selection::Unsatisfiable => return Err(Error::Range(file.size())),
        Selection::Parts(parts) => match parts.as_slice() {
            [part] => one_part(*part, file, entry, response),
            parts => several_parts(parts, file, entry, response),
        },
    }
    Ok(())
}

fn one_part(part: ByteRange, file: &FileEntry, entry: &Held, response: &mut Response) {
    response.status = Status::PARTIAL_CONTENT;
    response.set_file(entry.clone(), FieldSet::Part);
    response.fields.extend_from_slice(b"Content-Range: ");
    range::content_range(part, file.size(), &mut response.fields);
    response.fields.extend_from_slice(b"\r\n");
    write::number_field("Content-Length", part.len(), &mut response.fields);
    response.push_file(part.start..part.end);
}

fn several_parts(parts: &[ByteRange], file: &FileEntry, entry: &Held, response: &mut Response) {
    let boundary = boundary();
    let framing = Framing {
        boundary: boundary.as_bytes(),
        media_type: file.media_type().as_bytes(),
        parts,
        size: file.size(),
    };
    if framing.body_len() > file.size() {
        // Small parts of a small file: with their framing they would be more than all of it.
        return whole(file.size(), entry.clone(), response);
    }
    response.status = Status::PARTIAL_CONTENT;
    response.set_file(entry.clone(), FieldSet::Parts);
    response.fields.extend_from_slice(b"Content-Type: ");
    framing.content_type(&mut response.fields);
    response.fields.extend_from_slice(b"\r\n");
    write::number_field("Content-Length", framing.body_len(), &mut response.fields);
    for (index, part) in parts.iter().enumerate() {
        response.push_own(|out| framing.head(index, out));
        response.push_file(part.start..part.end);
    }
    response.push_own(|out| framing.close(out));
}

/// A boundary that nobody can guess, so that no file can be made to hold it.
fn boundary() -> String {
    // Each `RandomState` has keys of its own.
    format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1))
}

/// Sends the client to the folder's own path, which relative links in its index file count from.
fn add_slash(request: &Request<'_>, response: &mut Response) {
    let mut location = Vec::with_capacity(request.path.len() + 16);
    target::encode(request.path, &mut location);
    location.push(b'/');
    if let Some(query) = request.query {
        location.push(b'?');
        location.extend_from_slice(query);
    }
    crate::error::plain_page(Status::MOVED_PERMANENTLY, "", response);
    response.field("Location", &location);
}
