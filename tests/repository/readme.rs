//! What README.md shows is what the program does: its examples are run, and its table of
//! options is that of the engine, whose defaults they are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use engram::protocol::{Message, OptionDeclaration, OptionKind};

use crate::common::{Engine, command, finish, fixture, home};

const README: &str = include_str!("../../README.md");

/// The lines of the blocks of code in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut inside = None;
    for line in README.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(name), None) => inside = Some(name),
            (Some(_), Some(_)) => inside = None,
            (None, Some(name)) if name == language => found.push(line),
            _ => {}
        }
    }
    found
}

/// The lines of the example that begins with `first`, up to the next prompt.
fn example(first: &str) -> Vec<&'static str> {
    let lines = blocks("text");
    let begin =
        lines.iter().position(|line| *line == first).unwrap_or_else(|| panic!("no example `{first}`"));
    lines[begin + 1..].iter().copied().take_while(|line| !line.starts_with('$')).collect()
}

/// The options as the engine declares them.
fn declared(engine: &mut Engine) -> Vec<OptionDeclaration> {
    engine.send("uci");
    let lines = engine.expect("uciok");
    let options = lines.iter().filter_map(|line| match line.parse() {
        Ok(Message::Option(option)) => Some(option),
        _ => None,
    });
    options.collect()
}

#[test]
fn the_analysis_of_a_game_prints_what_is_shown() {
    let shown = example("$ engram analyse opera.pgn --nodes 20000 --all");
    let home = home();
    fs::copy(fixture("opera.pgn"), home.path().join("opera.pgn")).expect("a game");
    let (out, error, code) =
        finish(command(&home).args(["analyse", "opera.pgn", "--nodes", "20000", "--all"]));
    assert_eq!(code, 0, "{error}");
    let shown: Vec<&str> = shown.into_iter().filter(|line| line.trim() != "…").collect();
    let printed: Vec<&str> = out.lines().take(shown.len()).collect();
    assert_eq!(printed, shown, "README.md shows other lines than are printed:\n{out}");
}

/// The line with its numbers and its moves left out, which differ from machine to machine.
fn shape(line: &str) -> String {
    let line = line.split(" pv ").next().unwrap_or(line);
    let mut shape: String = line.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    while shape.contains("00") || shape.contains("-0") {
        shape = shape.replace("00", "0").replace("-0", "0");
    }
    shape
}

/// The hash file in the example of an analysis.
const SHOWN_FILE: &str = "/home/me/najdorf.hash";

#[test]
fn the_analysis_that_is_killed_resumes_as_is_shown() {
    let mut shown = example("$ engram                                  # the same three lines again");
    shown.retain(|line| *line != "…");
    let sent: Vec<&str> =
        example("$ engram").into_iter().filter_map(|line| line.strip_prefix("> ")).collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    let home = home();
    let file = home.path().join("najdorf.hash").display().to_string();
    let start = || {
        let mut engine = Engine::ready();
        sent.iter().for_each(|line| engine.send(&line.replace(SHOWN_FILE, &file)));
        engine
    };
    let mut engine = start();
    engine.expect("info depth 9 seldepth ");
    engine.kill();
    let mut engine = start();
    let lines = engine.expect("info string analysis resumed after iteration ");
    let hash = lines.iter().find(|line| line.contains("hash file")).expect("the file is told of");
    let resumed = engine.expect("info depth ").pop().expect("a line");
    let next = engine.expect("info depth ").pop().expect("a line");
    engine.stop();
    engine.quit();
    let printed = [hash.replace(&file, SHOWN_FILE), lines[lines.len() - 1].clone(), resumed, next];
    let shapes = |lines: &[&str]| lines.iter().map(|line| shape(line)).collect::<Vec<_>>();
    assert_eq!(shapes(&printed.each_ref().map(String::as_str)), shapes(&shown));
}

/// The rows of the table of options: each name with its values and its default as they are written there.
fn table() -> BTreeMap<String, (String, String)> {
    let section = README.split("\n## Options").nth(1).expect("the section");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let mut options = BTreeMap::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names: Vec<&str> = cells[0].split("`, `").map(|name| name.trim_matches('`')).collect();
        // A row of several options has their values and defaults in order, if they differ.
        let values: Vec<&str> = cells[1].split("; ").collect();
        let defaults: Vec<&str> = cells[2].split(", ").collect();
        for (index, name) in names.iter().enumerate() {
            let pick = |of: &[&str]| of.get(index).or(of.last()).copied().unwrap_or_default().to_owned();
            let whole = names.len() == 1;
            let default = if whole { cells[2].to_owned() } else { pick(&defaults) };
            options.insert((*name).to_owned(), (pick(&values), default));
        }
    }
    options
}

#[test]
fn the_table_of_options_is_that_of_the_engine() {
    let mut engine = Engine::start();
    let declared = declared(&mut engine);
    engine.quit();
    let table = table();
    for option in &declared {
        let name = &option.name;
        let Some((values, default)) = table.get(name) else { panic!("README.md does not name {name}") };
        let (is_range, declared) = match &option.kind {
            OptionKind::Check { default } => (values == "true, false", default.to_string()),
            OptionKind::Spin { default, min, max } => {
                (values.starts_with(&format!("{min} to {max}")), default.to_string())
            }
            OptionKind::Combo { default, values: all } => (
                BTreeSet::from_iter(values.split(", ")) == all.iter().map(String::as_str).collect(),
                default.clone(),
            ),
            OptionKind::Button => (values == "button", String::new()),
            // A sentence is only described.
            OptionKind::String { default: text } if !text.is_empty() => {
                (!default.is_empty(), default.clone())
            }
            OptionKind::String { default } => (true, default.clone()),
        };
        assert!(is_range, "{name}: README.md says {values}, the engine {option}");
        let is_empty = declared.is_empty() && (default.is_empty() || default == "empty");
        assert!(is_empty || *default == declared, "{name}: README.md says {default}, the engine {option}");
    }
    let others = table.keys().filter(|name| declared.iter().all(|option| option.name != **name));
    let others: Vec<&str> = others.map(String::as_str).collect();
    // One needs a build of its own.
    let of_other_builds: &[&str] = if cfg!(feature = "fleet") { &[] } else { &["LearnShare"] };
    assert_eq!(others, of_other_builds, "README.md names what the engine has not");
}

/// What a search prints, without what the speed of the machine decides.
fn printed(engine: &mut Engine) -> Vec<String> {
    let mut all = Vec::new();
    for position in ["startpos", "startpos moves e2e4 c7c5", "fen 8/2k5/3p4/p2P1p2/P2P1P2/8/8/4K3 w - - 0 1"]
    {
        let (best, lines) = engine.search(position, "go depth 8");
        let infos = lines.iter().filter(|line| line.starts_with("info depth "));
        let timeless = infos.map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let is_time = |index: usize| index > 0 && ["nps", "time"].contains(&words[index - 1]);
            (0..words.len())
                .filter(|&index| !is_time(index))
                .map(|index| words[index])
                .collect::<Vec<_>>()
                .join(" ")
        });
        all.extend(timeless);
        all.push(best);
    }
    all
}

#[test]
fn the_declared_defaults_are_what_the_engine_does_without_options() {
    let mut plain = Engine::ready();
    let expected = printed(&mut plain);
    plain.quit();
    let mut engine = Engine::ready();
    for option in declared(&mut engine) {
        let value = match option.kind {
            OptionKind::Check { default } => default.to_string(),
            OptionKind::Spin { default, .. } => default.to_string(),
            OptionKind::Combo { default, .. } => default,
            OptionKind::String { default } if default.is_empty() => "<empty>".to_owned(),
            OptionKind::String { default } => default,
            OptionKind::Button => continue,
        };
        let infos = engine.answer(&format!("setoption name {} value {value}", option.name));
        assert!(infos.is_empty(), "{}: {infos:?}", option.name);
    }
    assert_eq!(printed(&mut engine), expected);
    engine.quit();
}
