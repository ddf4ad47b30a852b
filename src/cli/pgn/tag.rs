/// Bytes after a quote that may end the value in which a better end is looked for.
const MAX_FORGOTTEN: usize = 256;

/// The names of tags that have a meaning here. They are read in any case.
const NAMES: [&str; 23] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteElo",
    "BlackElo",
    "WhiteTitle",
    "BlackTitle",
    "UTCDate",
    "UTCTime",
    "TimeControl",
    "SetUp",
    "FEN",
    "Variant",
    "ECO",
    "Opening",
    "Annotator",
    "WhiteAccuracy",
    "BlackAccuracy",
    "Session",
];

/// Reads `[Name "value"]` at the beginning of a line, which begins with `[`. Returns the tag, `None` if it is damaged,
/// and the text after it.
pub(super) fn read(line: &str) -> (Option<(&str, String)>, &str) {
    let inside = &line[1..];
    let Some(end) = inside.find(['"', ']']) else { return (None, "") };
    let (name, rest) = inside.split_at(end);
    let Some(value) = rest.strip_prefix('"') else { return (None, &rest[1..]) };
    let (length, closed) = end_of_value(value);
    let name = name.trim();
    let name = NAMES.into_iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name);
    (is_name(name).then(|| (name, unescaped(&value[..length]))), &value[length + closed..])
}

/// Does a line look as if it begins with a tag?
pub(super) fn is_tag(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('[') else { return false };
    rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains('"')
}

/// Names that the PGN standard allows, and other characters that some programs use.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(&byte))
}

/// The length of a value in bytes, and of its end: the first quote with a bracket after it, because some programs do
/// not escape quotes; otherwise the first such quote after a backslash, because some do not escape backslashes;
/// otherwise the first quote, or the end of the line.
fn end_of_value(value: &str) -> (usize, usize) {
    let (mut first, mut after_backslash) = (None, None);
    for (quote, _) in value.match_indices('"') {
        if after_backslash.or(first).is_some_and(|(end, _)| quote - end > MAX_FORGOTTEN) {
            break;
        }
        let before = &value[..quote];
        let is_escaped = (quote - before.trim_end_matches('\\').len()) % 2 == 1;
        let after = &value[quote + 1..];
        let rest = after.trim_start().strip_prefix(']');
        // The quote, what is between, and the bracket.
        let closed = rest.map(|rest| (quote, 1 + after.len() - rest.len()));
        match closed {
            Some(closed) if !is_escaped => return closed,
            Some(_) => after_backslash = after_backslash.or(closed),
            None if !is_escaped => first = first.or(Some((quote, 1))),
            None => {}
        }
    }
    after_backslash.or(first).unwrap_or((value.len(), 0))
}

/// A value without escapes and without blanks around it: a backslash escapes a quote and a backslash.
fn unescaped(value: &str) -> String {
    // Without control characters, so that one of them can stand for a backslash.
    let text = value.replace(char::is_control, " ").replace("\\\\", "\0");
    text.replace("\\\"", "\"").replace('\0', "\\").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<String> {
        read(text).0.map(|(_, value)| value)
    }

    #[test]
    fn a_tag_ends_where_it_is_closed() {
        assert_eq!(read("[A \"x\"][B \"y\"]"), (Some(("A", "x".to_owned())), "[B \"y\"]"));
        assert_eq!(read("[A\"x\" ] 1. e4").1, " 1. e4");
        assert_eq!(read("[fen \"x\"]"), (Some(("FEN", "x".to_owned())), ""));
        assert_eq!(read("[A \"x 1. e4"), (Some(("A", "x 1. e4".to_owned())), ""));
        assert_eq!(read("[A x] [B"), (None, " [B"));
        assert_eq!(read("[A x"), (None, ""));
        assert_eq!(read("[A \"x\\"), (Some(("A", "x\\".to_owned())), ""));
        assert_eq!(read("[A \"x\""), (Some(("A", "x".to_owned())), ""));
        assert_eq!(value("[A \"\u{1} x  y\t\"]").as_deref(), Some("x  y"));
        assert_eq!(read("[1A \"x\"]"), (None, ""));
    }

    #[test]
    fn quotes_may_be_escaped_or_forgotten_to_be() {
        assert_eq!(value(r#"[A "x \"y\" \\"]"#).as_deref(), Some(r#"x "y" \"#));
        assert_eq!(value(r#"[A "Hasty "B."]"#).as_deref(), Some(r#"Hasty "B."#));
        assert_eq!(value(r#"[A "C:\dir"]"#).as_deref(), Some(r"C:\dir"));
        assert_eq!(value("[A \"C:\\dir\\\"]").as_deref(), Some("C:\\dir\\"));
        assert_eq!(value(r#"[A "of \"x\"] and y"]"#).as_deref(), Some(r#"of "x"] and y"#));
        let far = format!("[A \"x\" {}\"]", "y".repeat(2 * MAX_FORGOTTEN));
        assert_eq!(value(&far).as_deref(), Some("x"));
    }
}
