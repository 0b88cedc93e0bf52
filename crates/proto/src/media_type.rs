//! Media types by file name.
//!
//! The facts stand in `media_types.txt`, one extension per line, and become a sorted table while
//! this crate compiles. Content is never looked at: a guess that a browser could be talked into
//! is a security hole, so what the table does not know is `application/octet-stream`.
//!
//! Where the facts come from: the IANA media type registry; Debian's `/etc/mime.types` (public
//! domain) for the long tail; for the web, the WHATWG standards (text/javascript, RFC 9239), the
//! W3C (manifests, fonts, WebAssembly), ECMA-426 (source maps are JSON) and RFC 9512 (YAML). What
//! was decided where the facts leave a choice:
//!
//! - `text/*` and SVG say `charset=utf-8`, or a browser would guess. JSON is UTF-8 by definition
//!   (RFC 8259 §8.1), and other XML says its encoding itself: a parameter would overrule it.
//! - `.ts` is an MPEG transport stream, as registered. TypeScript, which no browser runs, and
//!   other source code without a type of its own is plain text.
//! - Compressed files are types of their own, also `.svgz`: nobody declares their encoding here.
//! - An extension with several types has the one met most on the web; one that usually means
//!   something else there (`.bak`, `.mod`, `.scr`) has none.

/// The type of what has no known extension.
pub const DEFAULT: &str = "application/octet-stream";

/// The longest name that is looked up, in bytes.
const NAME_MAX: usize = 16;

/// `extension type`, sorted by extension, in lower case.
const TEXT: &str = include_str!("media_types.txt");

/// Extensions and their types.
static TABLE: [(&str, &str); line_count(TEXT)] = table(TEXT);

/// Names without an extension that are known to be text, in lower case.
const PLAIN: [&str; 24] = [
    "authors",
    "changelog",
    "changes",
    "codeowners",
    "containerfile",
    "contributing",
    "contributors",
    "copying",
    "copyright",
    "dockerfile",
    "gemfile",
    "install",
    "justfile",
    "licence",
    "license",
    "maintainers",
    "makefile",
    "md5sums",
    "news",
    "notice",
    "procfile",
    "readme",
    "sha256sums",
    "todo",
];

/// The media type for a file name, by its last extension, in any case.
///
/// `name` may be a path: only what follows the last `/` counts. A dot at its start begins no
/// extension. A few names without one, such as `LICENSE` and `Makefile`, are plain text;
/// everything else that is not known is [`DEFAULT`].
pub fn of(name: &[u8]) -> &'static str {
    let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let found = match memchr::memrchr(b'.', name) {
        None => plain(name),
        Some(dot @ 1..) => name.get(dot + 1..).and_then(by_extension),
        Some(0) => None,
    };
    found.unwrap_or(DEFAULT)
}

fn by_extension(extension: &[u8]) -> Option<&'static str> {
    let mut buffer = [0; NAME_MAX];
    let extension = lower(extension, &mut buffer)?;
    let row = TABLE.binary_search_by_key(&extension, |(known, _)| known.as_bytes()).ok()?;
    TABLE.get(row).map(|(_, media_type)| *media_type)
}

fn plain(name: &[u8]) -> Option<&'static str> {
    let mut buffer = [0; NAME_MAX];
    let name = lower(name, &mut buffer)?;
    PLAIN.iter().any(|known| known.as_bytes() == name).then_some("text/plain; charset=utf-8")
}

/// `text` in lower case, held by `buffer`; `None` if it is longer.
fn lower<'a>(text: &[u8], buffer: &'a mut [u8; NAME_MAX]) -> Option<&'a [u8]> {
    let target = buffer.get_mut(..text.len())?;
    target.copy_from_slice(text);
    target.make_ascii_lowercase();
    Some(target)
}

/// How many lines there are, each ended by a line feed.
const fn line_count(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'\n' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Runs only while compiling: a line that is not as it should be is a compile error.
const fn table<const ROWS: usize>(text: &'static str) -> [(&'static str, &'static str); ROWS] {
    let mut table = [("", ""); ROWS];
    let (mut row, mut rest) = (0, text);
    while row < ROWS {
        let (extension, media_type);
        (extension, rest) = cut(rest, b' ');
        (media_type, rest) = cut(rest, b'\n');
        table[row] = (extension, media_type);
        row += 1;
    }
    table
}

/// What stands before and behind the first `mark`.
const fn cut(text: &str, mark: u8) -> (&str, &str) {
    let mut at = 0;
    while text.as_bytes()[at] != mark {
        at += 1;
    }
    let (head, tail) = text.split_at(at);
    (head, tail.split_at(1).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_is_sorted_and_unique() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} comes before {}", pair[0].0, pair[1].0);
        }
        assert!(PLAIN.is_sorted_by(|a, b| a < b));
        assert!(TABLE.len() > 1500);
        assert_eq!(TEXT.lines().count(), TABLE.len());
    }

    #[test]
    fn every_row_is_well_formed_and_found() {
        let is_token = |text: &str| {
            let punctuation = |byte| b"!#$&-^_.+".contains(&byte);
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || punctuation(b))
        };
        for (extension, value) in TABLE {
            assert!((1..=NAME_MAX).contains(&extension.len()), "{extension}");
            assert_eq!(extension.to_ascii_lowercase(), extension);
            assert!(!extension.contains('.'), "{extension}");
            assert_eq!(of(format!("a.{extension}").as_bytes()), value);
            assert_eq!(of(format!("A.{}", extension.to_uppercase()).as_bytes()), value);
            let (media_type, charset) = match value.split_once("; ") {
                Some((media_type, charset)) => (media_type, Some(charset)),
                None => (value, None),
            };
            let (kind, subtype) = media_type.split_once('/').expect("a slash");
            assert!(is_token(kind) && is_token(subtype), "{value}");
            assert_eq!(value.to_ascii_lowercase(), value);
            let says_charset = kind == "text" || media_type == "image/svg+xml";
            assert_eq!(charset, says_charset.then_some("charset=utf-8"), "{value}");
        }
        for name in PLAIN {
            assert_eq!(of(name.as_bytes()), "text/plain; charset=utf-8");
        }
    }

    #[test]
    fn the_web_is_known() {
        let cases = [
            ("index.html", "text/html; charset=utf-8"),
            ("style.css", "text/css; charset=utf-8"),
            ("app.js", "text/javascript; charset=utf-8"),
            ("app.mjs", "text/javascript; charset=utf-8"),
            ("data.json", "application/json"),
            ("app.js.map", "application/json"),
            ("app.wasm", "application/wasm"),
            ("site.webmanifest", "application/manifest+json"),
            ("logo.svg", "image/svg+xml; charset=utf-8"),
            ("logo.svgz", "application/gzip"),
            ("feed.xml", "application/xml"),
            ("feed.rss", "application/rss+xml"),
            ("feed.atom", "application/atom+xml"),
            ("page.xhtml", "application/xhtml+xml"),
            ("favicon.ico", "image/vnd.microsoft.icon"),
            ("a.png", "image/png"),
            ("a.gif", "image/gif"),
            ("a.jpg", "image/jpeg"),
            ("a.jpeg", "image/jpeg"),
            ("a.webp", "image/webp"),
            ("a.avif", "image/avif"),
            ("a.jxl", "image/jxl"),
            ("a.heic", "image/heic"),
            ("a.woff", "font/woff"),
            ("a.woff2", "font/woff2"),
            ("a.ttf", "font/ttf"),
            ("a.otf", "font/otf"),
            ("a.webm", "video/webm"),
            ("a.mp4", "video/mp4"),
            ("a.ts", "video/mp2t"),
            ("a.m3u8", "application/vnd.apple.mpegurl"),
            ("a.mpd", "application/dash+xml"),
            ("a.m4a", "audio/mp4"),
            ("a.mp3", "audio/mpeg"),
            ("a.opus", "audio/ogg"),
            ("a.flac", "audio/flac"),
            ("a.ogg", "audio/ogg"),
            ("a.vtt", "text/vtt; charset=utf-8"),
            ("a.ics", "text/calendar; charset=utf-8"),
            ("a.gltf", "model/gltf+json"),
            ("a.glb", "model/gltf-binary"),
            ("a.geojson", "application/geo+json"),
            ("a.jsonld", "application/ld+json"),
            ("a.md", "text/markdown; charset=utf-8"),
            ("a.toml", "application/toml"),
            ("a.yaml", "application/yaml"),
            ("a.txt", "text/plain; charset=utf-8"),
            ("a.csv", "text/csv; charset=utf-8"),
            ("a.pdf", "application/pdf"),
            ("a.7z", "application/x-7z-compressed"),
            ("a.zip", "application/zip"),
            ("a.zst", "application/zstd"),
            ("a.br", "application/x-brotli"),
            ("a.tar.gz", "application/gzip"),
            ("a.xz", "application/x-xz"),
            ("a.bz2", "application/x-bzip2"),
            ("a.epub", "application/epub+zip"),
            ("a.apk", "application/vnd.android.package-archive"),
        ];
        for (name, expected) in cases {
            assert_eq!(of(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn only_the_last_extension_of_the_last_segment_counts() {
        assert_eq!(of(b"a.tar.ZST"), "application/zstd");
        assert_eq!(of(b"v1.css/a.html"), "text/html; charset=utf-8");
        assert_eq!(of(b"v1.css/a"), DEFAULT);
        assert_eq!(of(b"/srv/Makefile"), "text/plain; charset=utf-8");
        assert_eq!(of(b".git/README.md"), "text/markdown; charset=utf-8");
        assert_eq!(of(b"a.html/"), DEFAULT);
    }

    #[test]
    fn what_is_not_known_is_a_run_of_bytes() {
        let names: [&[u8]; 12] = [
            b"",
            b".",
            b"..",
            b"a",
            b"a.",
            b"a..",
            b".html",
            b"a.nosuchtype",
            b"a.html ",
            b"a.abcdefghijklmnopqrstuvwxyz",
            b"LICENSES",
            b"a.h\xc3\xa4",
        ];
        for name in names {
            assert_eq!(of(name), DEFAULT, "{name:?}");
        }
        assert_eq!(of(b".env"), DEFAULT);
        assert_eq!(of(b".hidden.html"), "text/html; charset=utf-8");
        // Scripts that a server would run are not shown to those who ask for them.
        assert_eq!(of(b"index.php"), DEFAULT);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(name in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = of(&name);
        }
    }
}
