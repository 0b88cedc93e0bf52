//! The binary and its command line.

use std::process::Command;

#[test]
fn an_unknown_command_costs_one_message_and_exit_code_2() {
    let output = Command::new(env!("CARGO_BIN_EXE_serval-lab")).arg("prove-it").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("prove-it"));
}
