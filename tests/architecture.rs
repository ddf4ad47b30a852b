//! The layers hold: no file imports from a higher layer, and the folders of layer 2 do not know each other.
//!
//! Every `.rs` file of `src/` is read, comments and literals are blanked, `use` trees are unfolded, and every
//! path that starts in `crate`, `self`, `super` or `engram` is resolved to the folder that it names.
//! `lib.rs` declares the modules and is exempt. The tests below the first feed made-up sources to the same
//! function and demand that it objects.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The layers, from the ground up. A name is a folder of `src/` or a file without its `.rs`.
const LAYERS: [(&str, u32); 14] = [
    ("files", 0),
    ("types", 0),
    ("position", 1),
    ("tt", 2),
    ("learn", 2),
    ("protocol", 2),
    ("book", 2),
    ("syzygy", 2),
    ("eval", 2),
    ("search", 3),
    ("engine", 4),
    ("uci", 5),
    ("cli", 6),
    ("main", 7),
];

/// The one thing that the search may know of learning.
const LEARN_FOR_SEARCH: &str = "policy";

fn layer(module: &str) -> Option<u32> {
    LAYERS.iter().find(|(name, _)| *name == module).map(|&(_, layer)| layer)
}

/// Everything wrong with the imports of one file, as sentences. `file` is relative to `src/`.
fn objections(file: &str, source: &str) -> Vec<String> {
    let here = module_path(file);
    let Some(own) = here.first() else { return Vec::new() };
    let Some(own_layer) = layer(own) else {
        return vec![format!("{file}: `{own}` has no layer; give it one in tests/architecture.rs")];
    };
    let mut objections = BTreeSet::new();
    for path in project_paths(source, &here) {
        let Some(other) = path.first() else {
            objections.insert(format!("{file}: it imports the whole crate, which hides what it uses"));
            continue;
        };
        let written = path.join("::");
        let Some(other_layer) = layer(other) else {
            // Items of lib.rs itself do not exist; whatever this is, it must not slip through.
            objections.insert(format!("{file}: {written} is in no layer"));
            continue;
        };
        if other == own {
            continue;
        }
        if other_layer > own_layer {
            objections.insert(format!("{file}: {written} is above (layer {other_layer} over {own_layer})"));
        } else if other_layer == own_layer {
            objections.insert(format!("{file}: {written} is beside (both in layer {own_layer})"));
        } else if own == "search" && other == "learn" {
            let part = path.get(1).map(String::as_str);
            if part != Some(LEARN_FOR_SEARCH) {
                objections.insert(format!("{file}: {written}: search may use only learn::policy"));
            }
        }
    }
    objections.into_iter().collect()
}

/// `search/history/mod.rs` is the module `search::history`; `main.rs` counts as a module `main`.
fn module_path(file: &str) -> Vec<String> {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Vec<String> = stem.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    if parts == ["lib"] {
        parts.clear();
    }
    parts
}

/// All paths into the project that a source names, as module paths from the crate root.
fn project_paths(source: &str, here: &[String]) -> Vec<Vec<String>> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    // The inline modules around the present token, each with the depth of braces that it began at.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut braces = 0;
    let mut index = 0;
    while index < tokens.len() {
        let token = tokens[index].as_str();
        match token {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if inside.last().is_some_and(|(_, begun)| *begun == braces) {
                    inside.pop();
                }
            }
            "mod" if tokens.get(index + 2).is_some_and(|next| next == "{") => {
                inside.push((tokens[index + 1].clone(), braces));
            }
            "use" => {
                let mut trees = Vec::new();
                index = use_tree(&tokens, index + 1, &mut Vec::new(), &mut trees);
                let scope = scope(here, &inside);
                found.extend(trees.iter().filter_map(|path| resolve(path, &scope)));
                continue;
            }
            "crate" | "super" | "self" | "engram" => {
                let starts = index == 0 || tokens[index - 1] != "::" || token == "engram";
                if starts && tokens.get(index + 1).is_some_and(|next| next == "::") {
                    let (path, next) = inline_path(&tokens, index);
                    found.extend(resolve(&path, &scope(here, &inside)));
                    index = next;
                    continue;
                }
            }
            _ => {}
        }
        index += 1;
    }
    found
}

fn scope(here: &[String], inside: &[(String, usize)]) -> Vec<String> {
    here.iter().cloned().chain(inside.iter().map(|(name, _)| name.clone())).collect()
}

/// Unfolds one `use` tree from `index`; returns where it ends.
fn use_tree(
    tokens: &[String],
    mut index: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> usize {
    let length = prefix.len();
    while let Some(token) = tokens.get(index) {
        match token.as_str() {
            "::" => index += 1,
            "{" => {
                index += 1;
                while tokens.get(index).is_some_and(|next| next != "}") {
                    index = use_tree(tokens, index, prefix, found);
                    if tokens.get(index).is_some_and(|next| next == ",") {
                        index += 1;
                    }
                }
                prefix.truncate(length);
                return index + 1;
            }
            "as" => index += 2,
            "," | "}" | ";" => break,
            _ => {
                prefix.push(token.clone());
                index += 1;
            }
        }
    }
    found.push(prefix.clone());
    prefix.truncate(length);
    index
}

/// Reads `a::b::c` outside of a `use`, also the `crate::{…}`-free forms of `pub(in path)` and macros.
fn inline_path(tokens: &[String], mut index: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[index].clone()];
    index += 1;
    while tokens.get(index).is_some_and(|next| next == "::") {
        match tokens.get(index + 1) {
            Some(name) if name.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                path.push(name.clone());
                index += 2;
            }
            _ => break,
        }
    }
    (path, index)
}

/// From a path as written in module `scope` to one from the crate root; nothing for other crates.
fn resolve(path: &[String], scope: &[String]) -> Option<Vec<String>> {
    let (first, mut rest) = path.split_first()?;
    let mut base: Vec<String> = match first.as_str() {
        "crate" | "engram" | "$crate" => Vec::new(),
        "self" => scope.to_vec(),
        "super" => scope.split_last().map_or_else(Vec::new, |(_, above)| above.to_vec()),
        _ => return None,
    };
    while let Some((next, after)) = rest.split_first() {
        match next.as_str() {
            "super" => {
                base.pop();
            }
            "self" => {}
            _ => break,
        }
        rest = after;
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Words, `::` and single characters of a source, without comments, literals and white space.
fn tokens(source: &str) -> Vec<String> {
    let characters: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        let rest = &characters[index..];
        let skip = blank(rest);
        if skip > 0 {
            index += skip;
        } else if rest[0].is_alphanumeric() || rest[0] == '_' {
            let word: String = rest.iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
            index += word.chars().count();
            tokens.push(word);
        } else if rest.starts_with(&[':', ':']) {
            tokens.push("::".to_owned());
            index += 2;
        } else {
            tokens.push(rest[0].to_string());
            index += 1;
        }
    }
    tokens
}

/// The length of the white space, comment or literal that `rest` begins with, or 0.
fn blank(rest: &[char]) -> usize {
    let until = |from: usize, end: &[char]| {
        (from..rest.len()).find(|&at| rest[at..].starts_with(end)).map_or(rest.len(), |at| at + end.len())
    };
    match rest {
        [c, ..] if c.is_whitespace() => 1,
        ['/', '/', ..] => until(2, &['\n']),
        ['/', '*', ..] => {
            let (mut depth, mut at) = (1, 2);
            while depth > 0 && at < rest.len() {
                match &rest[at..] {
                    ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
                    ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
                    _ => at += 1,
                }
            }
            at
        }
        ['"', ..] => quoted(rest, 1),
        ['b' | 'c', '"', ..] => quoted(rest, 2),
        ['r', '"' | '#', ..] => raw(rest, 1),
        ['b' | 'c', 'r', '"' | '#', ..] => raw(rest, 2),
        // A character, not a lifetime: 'x' or an escape.
        ['\'', '\\', _, ..] => until(3, &['\'']),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn quoted(rest: &[char], mut at: usize) -> usize {
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// A raw string, or 0 for a raw identifier such as `r#type`.
fn raw(rest: &[char], prefix: usize) -> usize {
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    let begin = prefix + hashes;
    if rest.get(begin) != Some(&'"') {
        return 0;
    }
    let mut end = vec!['"'];
    end.extend(std::iter::repeat_n('#', hashes));
    (begin + 1..rest.len()).find(|&at| rest[at..].starts_with(&end)).map_or(rest.len(), |at| at + end.len())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn no_file_imports_from_a_higher_layer() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 10, "only {} files found under {}", files.len(), root.display());
    let mut wrong = Vec::new();
    for path in files {
        let name: Vec<_> =
            path.strip_prefix(&root).expect("below src").iter().map(|part| part.to_string_lossy()).collect();
        wrong.extend(objections(&name.join("/"), &fs::read_to_string(&path).expect("a source is UTF-8")));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn every_spelling_of_an_upward_import_is_found() {
    let cases = [
        ("types/score.rs", "use crate::position::Position;"),
        ("types/score.rs", "use crate::{types::Depth, position::Position};"),
        (
            "types/score.rs",
            "use crate::{\n    types::{Depth, Ply},\n    search::{self, picker::{Picker, Stage}},\n};",
        ),
        ("types/score.rs", "use crate::position as board;"),
        ("types/score.rs", "pub use crate::search::*;"),
        ("types/score.rs", "pub(crate) use ::engram::search::Limits;"),
        ("types/score.rs", "fn f() -> crate::engine::Engine { todo!() }"),
        ("types/score.rs", "fn f() { ::engram::uci::run() }"),
        ("types/score.rs", "use crate as all;"),
        ("types/score.rs", "use crate::{self as all};"),
        ("types/score.rs", "use crate::*;"),
        ("types/score.rs", "fn f() { let x = super::super::uci::run(); }"),
        ("types/score.rs", "use super::super::uci;"),
        ("types/mod.rs", "use super::uci;"),
        ("types/mod.rs", "mod tests { use super::super::uci::Session; }"),
        ("types/mod.rs", "mod tests { fn f() {} mod deep { use super::super::super::uci::Session; } }"),
        ("types/mod.rs", "mod tests { fn f() {} } use super::cli::run;"),
        ("types/score.rs", "const QUOTE: char = '\"'; use crate::uci::x; const END: char = '\"';"),
        ("types/score.rs", "const S: &str = r#\"a\"b\"#; use crate::uci::x; // \""),
        ("types/score.rs", "fn f<'a>(x: &'a str) -> &'a str { crate::uci::echo(x) }"),
        ("types/score.rs", "macro_rules! m { () => { $crate::uci::x() } }"),
        ("types/score.rs", "/* a /* nested */ comment */ use crate /* here */ :: uci :: x;"),
        ("search/history/quiet.rs", "use super::super::super::engine::Engine;"),
        ("search/mod.rs", "impl From<crate::uci::Line> for Line {}"),
        ("engine.rs", "use crate::uci::Session;"),
        ("uci/session.rs", "use crate::cli::bench;"),
        ("cli/bench.rs", "use crate::main::start;"),
    ];
    for (file, source) in cases {
        assert!(!objections(file, source).is_empty(), "{file} passed with {source}");
    }
}

#[test]
fn folders_of_layer_2_do_not_know_each_other() {
    for (file, source) in [
        ("eval/pawns.rs", "use crate::tt::Table;"),
        ("tt/table.rs", "use crate::learn::Record;"),
        ("protocol/command.rs", "fn f() { crate::eval::evaluate(); }"),
        ("syzygy.rs", "use crate::book::Book;"),
        ("learn/merge.rs", "use super::super::tt::Entry;"),
    ] {
        assert_eq!(objections(file, source).len(), 1, "{file} with {source}");
    }
}

#[test]
fn search_uses_of_learning_only_its_policy() {
    assert!(objections("search/node.rs", "use crate::learn::policy::Trigger;").is_empty());
    assert_eq!(objections("search/node.rs", "use crate::learn::Record;").len(), 1);
    assert_eq!(objections("search/node.rs", "use crate::learn::{policy, ring::Ring};").len(), 1);
    assert_eq!(objections("search/node.rs", "use crate::learn;").len(), 1);
}

#[test]
fn a_module_without_a_layer_is_named() {
    assert_eq!(objections("misc.rs", "fn f() {}").len(), 1);
    assert_eq!(objections("search/node.rs", "use crate::misc::helper;").len(), 1);
}

#[test]
fn what_is_allowed_passes() {
    for (file, source) in [
        ("search/node.rs", "use crate::{eval, position::Position, tt::{self, Table}, types::*};"),
        ("search/node.rs", "use super::{picker::Picker, super::types::Score}; use shakmaty::{Move, Role};"),
        ("search/history/quiet.rs", "use super::super::frame::Frame; use self::table::T;"),
        (
            "search/node.rs",
            "//! See [`crate::uci`].\n/// [`crate::engine::Engine`]\nfn f() { /* crate::uci */ }",
        ),
        (
            "search/node.rs",
            "const TEXT: &str = \"use crate::uci::x\\\" crate::cli\"; const B: &[u8] = br#\"crate::uci\"#;",
        ),
        ("search/node.rs", "mod tests { use super::*; use super::super::types::Score; }"),
        ("search/node.rs", "fn f(&self) { self.uci(); let engine = self.engine.uci; r#match(); }"),
        ("main.rs", "fn main() { engram::cli::run() } use engram::uci;"),
        ("lib.rs", "pub mod uci; pub use crate::cli::run;"),
    ] {
        assert_eq!(objections(file, source), Vec::<String>::new(), "{file} with {source}");
    }
}

/// The clock on the wall jumps, by hand, by summer time or by a time server: no search may look at it.
#[test]
fn searches_count_monotonic_time() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in ["search", "engine", "uci"].iter().flat_map(|folder| sources(&root.join(folder))) {
        let words = tokens(&fs::read_to_string(&path).expect("a source is UTF-8"));
        let wall = words.iter().find(|word| ["SystemTime", "UNIX_EPOCH"].contains(&word.as_str()));
        assert_eq!(wall, None, "{}", path.display());
    }
}

/// Where `unsafe` is, and the test that would notice if its fact were wrong.
const ROOMS: [(&str, &str); 9] = [
    ("book/mod.rs", "every_book_is_read_as_another_reader_reads_it"),
    ("syzygy.rs", "every_answer_is_the_oracle_s"),
    ("tt/backing.rs", "a_clean_end_keeps_as_much_and_two_engines_share_a_file"),
    ("tt/file/cell.rs", "threads_that_store_and_probe_read_whole_entries"),
    ("tt/file/disk.rs", "a_disk_without_room_is_not_filled"),
    ("tt/file/guard.rs", "a_file_cut_short_ends_the_engine_with_a_sentence"),
    ("tt/file/map.rs", "damaged_entries_are_misses"),
    ("tt/table.rs", "what_was_stored_is_found"),
    ("types/prefetch.rs", "the_search_makes_as_many_nodes_as_its_signature_says"),
];

#[test]
fn unsafe_code_is_in_named_rooms_with_its_facts_and_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let all: String = ["src", "tests"]
        .iter()
        .flat_map(|folder| sources(&root.join(folder)))
        .map(|path| text(&path))
        .collect();
    let mut rooms = Vec::new();
    for path in sources(&root.join("src")) {
        let source = text(&path);
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let is_unsafe = |line: &str| {
            !line.starts_with("//")
                && ["unsafe {", "unsafe impl ", "unsafe trait "].iter().any(|w| line.contains(w))
        };
        let found: Vec<usize> = (0..lines.len()).filter(|&number| is_unsafe(lines[number])).collect();
        if found.is_empty() {
            continue;
        }
        let name = path.strip_prefix(root.join("src")).unwrap().to_string_lossy().replace('\\', "/");
        for number in found {
            let above = &lines[number.saturating_sub(6)..number];
            let told = above.iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"));
            assert!(told, "{name}, line {}: why is it sound? Write `// SAFETY:`", number + 1);
        }
        rooms.push(name);
    }
    rooms.sort_unstable();
    assert_eq!(rooms, ROOMS.map(|(room, _)| room));
    for (room, test) in ROOMS {
        assert!(all.contains(&format!("fn {test}()")), "{room}: there is no test `{test}`");
    }
}
