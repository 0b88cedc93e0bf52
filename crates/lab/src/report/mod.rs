//! One self-contained HTML file, drawn from a campaign's directory.
