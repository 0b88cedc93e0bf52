//! Priorities (RFC 9218): how urgent a response is, and whether parts of it are of use.

use crate::scan;

/// What a client wishes for a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// From 0, the most urgent, to 7.
    pub urgency: u8,
    /// Whether parts of it are of use before all is there.
    pub incremental: bool,
}

impl Priority {
    /// The least urgent.
    pub const URGENCY_MAX: u8 = 7;

    /// Reads the value of the `priority` field or of PRIORITY_UPDATE. Members that cannot be read
    /// count as not given (RFC 9218 §4).
    pub fn parse(value: &[u8]) -> Priority {
        let mut priority = Priority::default();
        for member in value.split(|byte| *byte == b',') {
            // Parameters mean nothing here.
            let item = member.split(|byte| *byte == b';').next().unwrap_or_default();
            match scan::trim(item) {
                [b'u', b'=', digit @ b'0'..=b'7'] => priority.urgency = digit - b'0',
                b"i" | b"i=?1" => priority.incremental = true,
                b"i=?0" => priority.incremental = false,
                _ => {}
            }
        }
        priority
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority { urgency: 3, incremental: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send() {
        for (value, urgency, incremental) in [
            ("", 3, false),
            ("u=0, i", 0, true),
            ("i", 3, true),
            ("u=5,i=?0", 5, false),
            ("i=?1;x=2, u=7 ", 7, true),
            ("u=8", 3, false),
            ("u=-1, i=1", 3, false),
            ("u=1, u=2", 2, false),
            ("u =1", 3, false),
        ] {
            let expected = Priority { urgency, incremental };
            assert_eq!(Priority::parse(value.as_bytes()), expected, "{value}");
        }
    }
}
