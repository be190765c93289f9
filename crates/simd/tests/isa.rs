//! The environment variable that forces a kernel, seen from a process of its own.

use std::process::Command;

use tamias_simd::Isa;

/// Runs this very test program again, so that detection happens anew; gives the kernel that it chose.
fn chosen(forced: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "says_which_kernel_it_chose", "--nocapture"]).env_remove("TAMIAS_ISA");
    if let Some(name) = forced {
        command.env("TAMIAS_ISA", name);
    }
    let output = String::from_utf8(command.output().expect("runs").stdout).expect("text");
    let (_, after) = output.split_once("kernel=").expect("the line");
    after.chars().take_while(char::is_ascii_alphanumeric).collect()
}

#[test]
fn says_which_kernel_it_chose() {
    println!("kernel={}", Isa::best().name());
}

#[test]
fn the_environment_forces_a_kernel_that_is_there() {
    let available = Isa::available();
    assert_eq!(chosen(None), available[0].name());
    for isa in &available {
        assert_eq!(chosen(Some(isa.name())), isa.name());
    }
    assert_eq!(chosen(Some("abacus")), available[0].name());
    assert_eq!(available.last().map(|isa| isa.name()), Some("portable"));
}
