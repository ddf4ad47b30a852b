//! The layers hold: no file imports from a higher layer, and the folders of one layer do not know each other.
//! `unsafe` is only where it is listed.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The layers, from the ground up: folders of `src/`, or files without their `.rs`. `lib.rs` is exempt.
const LAYERS: [&[&str]; 9] = [
    &["files", "locks", "types", "processor"],
    &["position", "notice"],
    &["tt", "learn", "protocol", "book", "syzygy", "eval"],
    &["search", "tree"],
    &["fleet"],
    &["engine"],
    &["uci"],
    &["cli"],
    &["main"],
];

/// Files with `unsafe` code, and the test that would notice if what makes it sound were wrong.
const UNSAFE: [(&str, &str); 9] = [
    ("main.rs", "a_program_for_a_newer_processor_ends_with_a_sentence"),
    ("processor.rs", "every_generation_of_instructions_gives_the_same_values"),
    ("syzygy.rs", "every_answer_is_the_oracle_s"),
    ("tt/backing.rs", "a_clean_end_keeps_as_much_and_two_engines_share_a_file"),
    ("tt/file/cell.rs", "threads_that_store_and_probe_read_whole_entries"),
    ("tt/file/guard.rs", "a_file_cut_short_ends_the_engine_with_a_sentence"),
    ("tt/file/map.rs", "damaged_entries_are_misses"),
    ("tt/table.rs", "what_was_stored_is_found"),
    ("types/prefetch.rs", "the_search_makes_as_many_nodes_as_its_signature_says"),
];

/// The `.rs` files below a folder of the project, as paths relative to it, with their code without comments.
fn sources(folder: &str) -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                collect(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(entry);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>();
        let name = path.strip_prefix(&root).expect("below it").to_string_lossy().replace('\\', "/");
        (name, code.join("\n"))
    };
    paths.into_iter().map(read).collect()
}

/// The modules at the root of the crate that the code names behind `prefix`, in a list in braces as well.
fn named(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        let word =
            |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned);
        let Some(list) = rest.strip_prefix('{') else {
            names.extend(word(rest));
            continue;
        };
        let mut depth = 1;
        for (index, c) in list.char_indices() {
            if depth == 1 && (index == 0 || c == ',') {
                names.extend(word(list[index..].trim_start_matches(|c: char| c == ',' || c.is_whitespace())));
            }
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 {
                break;
            }
        }
    }
    names.remove("");
    names
}

#[test]
fn no_file_imports_from_a_higher_layer_or_from_its_neighbours() {
    let layer = |name: &str| LAYERS.iter().position(|names| names.contains(&name));
    for (file, code) in sources("src").into_iter().filter(|(file, _)| file != "lib.rs") {
        let own = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        let own_layer = layer(own).unwrap_or_else(|| panic!("{file} is in no layer: give it one"));
        let prefix = if own == "main" { "engram::" } else { "crate::" };
        for name in named(&code, prefix).iter().filter(|name| *name != own) {
            let below = layer(name).unwrap_or_else(|| panic!("{file}: {name} is in no layer"));
            assert!(below < own_layer, "{file} imports {name}, which is not below it");
        }
        let up = named(&code, "super::").into_iter().find(|name| name != own && layer(name).is_some());
        // `cli` has subcommands that bear the names of layers.
        assert!(up.is_none() || own == "cli", "{file}: write crate:: for {up:?}");
        assert!(own != "search" || !code.contains("learn::"), "{file}: the search knows no memory");
    }
}

#[test]
fn imports_are_found_in_every_spelling() {
    let code = "use crate::{\n    eval,\n    position::{Path, Position},\n    tt::Table,\n};\nfn f(x: crate::uci::Line) {}";
    assert_eq!(named(code, "crate::").iter().collect::<Vec<_>>(), ["eval", "position", "tt", "uci"]);
}

/// The clock on the wall jumps, by hand, by summer time or by a time server: no search may look at it.
#[test]
fn searches_count_monotonic_time() {
    for (file, code) in sources("src") {
        let timed = ["search", "engine", "uci"].iter().any(|folder| file.starts_with(folder));
        let wall = code.contains("SystemTime") || code.contains("UNIX_EPOCH");
        assert!(!(timed && wall), "{file}");
    }
}

/// Sockets are opened in one place, which the default build does not hold.
#[test]
fn only_the_fleet_knows_the_network() {
    for (file, code) in sources("src").into_iter().filter(|(file, _)| !file.starts_with("fleet/")) {
        let network = ["std::net", "TcpStream", "TcpListener", "UdpSocket", "redis::", "rustls::"];
        assert!(network.iter().all(|word| !code.contains(word)), "{file}: the network is the fleet's");
    }
}

/// That each has its `// SAFETY:` is clippy's to see (`undocumented_unsafe_blocks`, Cargo.toml).
#[test]
fn unsafe_code_is_where_it_is_listed_and_each_has_its_test() {
    let sources = sources("src");
    let all: String = sources.iter().cloned().chain(self::sources("tests")).map(|(_, code)| code).collect();
    let is_unsafe = |code: &str| {
        ["unsafe {", "unsafe impl ", "unsafe trait ", "#[unsafe("].iter().any(|word| code.contains(word))
    };
    let mut found: Vec<&str> =
        sources.iter().filter(|(_, code)| is_unsafe(code)).map(|(file, _)| file.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, UNSAFE.map(|(file, _)| file));
    for (file, test) in UNSAFE {
        assert!(all.contains(&format!("fn {test}()")), "{file}: there is no test `{test}`");
    }
}
