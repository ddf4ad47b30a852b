//! The common parts of the pages for the browser, which load nothing: no network, no other file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
/// How all pages are printed; after their own styles, which it overrides.
const PRINT_STYLE: &str = include_str!("print.css");
/// The pieces, each in a field of 45 by 45.
const PIECES: &str = include_str!("pieces.svg");
/// The content security policy: the browser prevents a page from loading anything. Its own pictures become files by way of
/// `data:`.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
/// The mark between the two parts of a page.
const CUT: PreEscaped<&str> = PreEscaped("<!--cut-->");

/// The style of a page of analysed games.
pub const ANALYSIS_STYLE: &str = concat!(
    include_str!("analysis/common.css"),
    include_str!("analysis/viewer.css"),
    include_str!("analysis/hand.css"),
    include_str!("analysis/graph.css"),
    include_str!("analysis/cards.css"),
    include_str!("analysis/tables.css"),
);
/// Its script.
pub const ANALYSIS_SCRIPT: &str = concat!(
    include_str!("analysis/chess.js"),
    include_str!("analysis/dom.js"),
    include_str!("analysis/board.js"),
    include_str!("analysis/graph.js"),
    include_str!("analysis/hand.js"),
    include_str!("analysis/stage.js"),
    include_str!("analysis/mistakes.js"),
    include_str!("analysis/save.js"),
    include_str!("analysis/lines.js"),
    include_str!("analysis/variations.js"),
    include_str!("analysis/viewer.js"),
    include_str!("analysis/players.js"),
    include_str!("analysis/tables.js"),
    include_str!("analysis/main.js"),
);
/// The style of a page of a tree.
pub const TREE_STYLE: &str = concat!(
    include_str!("analysis/common.css"),
    include_str!("analysis/viewer.css"),
    include_str!("analysis/hand.css"),
    include_str!("analysis/tables.css"),
    include_str!("tree/tree.css"),
);
/// Its script.
pub const TREE_SCRIPT: &str = concat!(
    include_str!("analysis/chess.js"),
    include_str!("analysis/dom.js"),
    include_str!("analysis/board.js"),
    include_str!("analysis/hand.js"),
    include_str!("analysis/stage.js"),
    include_str!("analysis/save.js"),
    include_str!("tree/graph.js"),
    include_str!("tree/news.js"),
    include_str!("tree/explorer.js"),
);
/// The style of a page about the learning file.
pub const LEARN_STYLE: &str = include_str!("learn.css");
/// Its script.
pub const LEARN_SCRIPT: &str = concat!(
    include_str!("analysis/chess.js"),
    include_str!("analysis/dom.js"),
    include_str!("analysis/board.js"),
    include_str!("learn.js"),
);

/// The frame of a page around its content.
pub struct Frame<'a> {
    /// The title.
    pub title: &'a str,
    /// The text after the title in the browser's tab.
    pub about: &'a str,
    /// Its own style.
    pub style: &'a str,
    /// Its own script.
    pub script: &'a str,
    /// The header before the content.
    pub header: Markup,
    /// The footer.
    pub footer: &'a str,
}

impl Frame<'_> {
    /// The page before its content, and after it.
    pub fn parts(&self) -> (String, String) {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) " - " (self.about) }
                    style { (PreEscaped(STYLE)) (PreEscaped(self.style)) (PreEscaped(PRINT_STYLE)) }
                    script { (PreEscaped(self.script)) }
                }
                body {
                    (PreEscaped(PIECES))
                    main { (self.header) (CUT) }
                    footer { (self.footer) " Pieces by Colin M. L. Burnett, GPL." }
                }
            }
        };
        let page = page.into_string();
        // Text is escaped: nothing else can look like the mark.
        let (start, end) = page.split_once(CUT.0).unwrap_or((&page, ""));
        (start.to_owned(), end.to_owned())
    }
}

/// JSON safe for embedding in a page: `<` occurs only in strings, and could end the block or begin a comment.
pub fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Escaped text.
pub fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}
