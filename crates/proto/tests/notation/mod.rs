//! How test cases in text files write bytes: what is printed stands for itself, the rest is
//! escaped. Used by the cases of the parser and by the conversations with the server, so that both
//! read alike. It must not know what the bytes are for.

/// The bytes that `text` stands for.
///
/// `\r`, `\n`, `\t`, `\\`, `\{`, `\*` and `\xHH` are what they are in Rust or the character itself.
/// `{300*text}` stands for 300 times `text`. What any other `{name}` stands for, `resolve` says.
pub(crate) fn bytes(text: &str, resolve: &dyn Fn(&str) -> Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' => rest = escape(rest, &mut out),
            '{' => {
                let end = rest.find('}').unwrap_or_else(|| panic!("no closing brace in {text:?}"));
                let (name, tail) = (&rest[..end], &rest[end + 1..]);
                rest = tail;
                match name.split_once('*').map(|(count, of)| (count.parse(), of)) {
                    Some((Ok(count), of)) => out.extend(bytes(of, resolve).repeat(count)),
                    _ => out.extend(resolve(name)),
                }
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}

/// Appends what the escape at the start of `rest` stands for, and returns what follows it.
fn escape<'a>(rest: &'a str, out: &mut Vec<u8>) -> &'a str {
    let name = *rest.as_bytes().first().expect("something after a backslash");
    let mut length = 1;
    out.push(match name {
        b'r' => b'\r',
        b'n' => b'\n',
        b't' => b'\t',
        b'\\' | b'{' | b'*' => name,
        b'x' => {
            length = 3;
            u8::from_str_radix(&rest[1..3], 16).expect("two hexadecimal digits")
        }
        _ => panic!("no such escape: \\{}", char::from(name)),
    });
    &rest[length..]
}

/// For cases that have no names of their own.
#[allow(dead_code, reason = "one of the two that use this file has names")]
pub(crate) fn no_names(name: &str) -> Vec<u8> {
    panic!("nothing is called {name:?} here")
}
