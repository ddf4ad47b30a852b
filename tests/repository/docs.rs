//! The manual: every link between its pages leads somewhere, every page is linked, and what it says of versions and commands
//! holds.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::common;

/// The Markdown files of the project, relative to it.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = Vec::new();
    for folder in ["", "docs", "learn", "books", "benches/notes"] {
        for entry in fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path.strip_prefix(root).expect("below it").to_owned());
            }
        }
    }
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).expect("a page")
}

/// The lines of a page that are no examples.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut example = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        example ^= fence;
        !example && !fence
    })
}

/// Where the links and pictures of a page lead.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        for (begin, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for (at, _) in line.match_indices(begin) {
                let rest = &line[at + begin.len()..];
                found.extend(rest.split(end).next().map(str::to_owned));
            }
        }
    }
    found
}

/// The names by which GitHub and others link to the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|line| line.strip_prefix('#'));
    let name = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

/// `folder/../page` as `page`.
fn resolved(from: &Path, link: &str) -> PathBuf {
    let mut path = from.parent().unwrap_or(Path::new("")).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                assert!(path.pop(), "{} links outside the project: {link}", from.display())
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[test]
fn every_link_between_the_pages_leads_somewhere() {
    let (mut checked, mut dead) = (0, Vec::new());
    for page in pages() {
        for link in links(&read(&page)) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { resolved(&page, file) };
            let there = Path::new(env!("CARGO_MANIFEST_DIR")).join(&target);
            let found = there.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !found {
                dead.push(format!("{}: {link}", page.display()));
            }
            checked += 1;
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
    assert!(checked > 50, "{checked}");
}

#[test]
fn every_page_of_the_manual_is_in_its_table_of_contents() {
    let contents: BTreeSet<String> = links(&read(Path::new("docs/README.md"))).into_iter().collect();
    for page in pages().iter().filter(|page| page.starts_with("docs")) {
        let name = page.file_name().expect("a name").to_string_lossy();
        assert!(name == "README.md" || contents.contains(&*name), "docs/README.md does not name {name}");
    }
}

/// The arguments of a line of an example that runs the engine, with quotes and a comment as a shell has them.
fn arguments(line: &str) -> Option<Vec<String>> {
    let line = line.trim_start_matches("$ ").strip_prefix("engram ")?;
    let line = [" #", " | ", " > ", " && ", "; "]
        .iter()
        .fold(line, |line, end| line.split(end).next().unwrap_or(line));
    let quoted = line.split(['"', '\'']).enumerate();
    let words = quoted.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    Some(words.collect()).filter(|words: &Vec<String>| !words.is_empty())
}

/// With an argument that no command has: where it is the one that is refused, all before it are known.
#[test]
fn every_command_that_is_shown_is_understood() {
    let mut tried = 0;
    for page in pages() {
        // A command may go on in the next line.
        let text = read(&page).replace("\\\n", " ");
        for mut arguments in text.lines().filter_map(arguments) {
            let needs_a_feature = page.ends_with("FLEET.md") && !cfg!(feature = "fleet")
                || arguments[0] == "tune" && !cfg!(feature = "tune");
            // Notes name options of the tuner as they were at the time.
            let is_past = page.starts_with("benches") && arguments[0] == "tune";
            if needs_a_feature || is_past {
                continue;
            }
            arguments.push("--unheard-of".to_owned());
            let (_, error, code) = common::run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            let is_refused = code == 2 && error.contains("unexpected argument '--unheard-of'");
            assert!(is_refused, "{}: {arguments:?}: {error}", page.display());
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

#[test]
fn the_package_is_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let packaged = read(Path::new("packaging/changelog"));
    assert!(packaged.starts_with(&format!("engram ({version}-1) ")), "{packaged}");
    assert!(read(Path::new("CHANGELOG.md")).contains(&format!("## {version}")));
}
