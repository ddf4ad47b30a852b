//! What Engram is made of: every package comes from the registry, with a licence that `deny.toml` allows, and
//! none of them opens a network. `cargo deny check` says more where it is installed.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use serde_json::Value;

fn project(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Standard output of a tool of the toolchain that runs this test.
fn output(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// The strings of the list that begins with `key = [` in `deny.toml`.
fn listed(deny: &str, key: &str) -> BTreeSet<String> {
    let (_, list) = deny.split_once(&format!("\n{key} = [")).expect("the list");
    let (list, _) = list.split_once(']').expect("its end");
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Does an SPDX expression allow one of the licences? `OR` binds less than `AND`; old packages write `/` for it.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let all = |words: &str| words.split(" AND ").all(|licence| allowed.contains(licence.trim()));
    if expression.contains('(') {
        // `(A OR B) AND C`: each part for itself.
        expression.split(" AND ").all(|part| {
            let part = part.replace(['(', ')'], "");
            part.split(" OR ").any(|licence| allowed.contains(licence.trim()))
        })
    } else {
        plain.split(" OR ").any(all)
    }
}

#[test]
fn licences_fit_and_nothing_comes_from_elsewhere() {
    let deny = project("deny.toml");
    let (allowed, banned) = (listed(&deny, "allow"), listed(&deny, "deny"));
    assert!(allowed.contains("GPL-3.0-or-later") && banned.contains("tokio"));
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = manifest.to_str().expect("a path in Unicode");
    // What this machine builds, which is therefore here: no network is needed.
    let arguments = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host];
    let text =
        output(env!("CARGO"), &[&arguments[..], &["--all-features", "--manifest-path", manifest]].concat());
    let metadata: Value = serde_json::from_str(&text).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "{} packages", packages.len());
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        // Old names of one licence, which cargo-deny reads likewise.
        let licence = match package["license"].as_str().unwrap_or("none") {
            "GPL-3.0" | "GPL-3.0+" => "GPL-3.0-or-later",
            licence => licence,
        };
        assert!(is_allowed(licence, &allowed), "{name}: {licence} is not in deny.toml");
        assert!(!banned.contains(name), "{name} is banned by deny.toml");
        let source = package["source"].as_str().unwrap_or("here");
        assert!(source.contains("crates.io") || name == "engram", "{name} comes from {source}");
    }
}

#[test]
fn the_lock_file_names_a_checksum_for_every_package() {
    let lock = project("Cargo.lock");
    for package in lock.split("[[package]]").skip(1).filter(|package| !package.contains("name = \"engram\""))
    {
        let complete = package.contains("source = \"registry+https://github.com/rust-lang/crates.io-index\"")
            && package.contains("checksum = ");
        assert!(complete, "{package}");
    }
}

#[test]
fn expressions_of_licences_are_understood() {
    let allowed: BTreeSet<String> = ["MIT", "Zlib"].map(str::to_owned).into();
    for (expression, fits) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 OR MIT", true),
        ("Apache-2.0", false),
        ("MIT AND Apache-2.0", false),
        ("(Apache-2.0 OR MIT) AND Zlib", true),
        ("(Apache-2.0 OR MIT) AND Unicode-3.0", false),
        ("none", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), fits, "{expression}");
    }
}
