/// Bytes after an unescaped quote in which the end of the tag is looked for; without one the value ends at that quote.
const MAX_FORGOTTEN: usize = 256;

/// Reads `[Name "value"]` at the beginning of `text`, which begins with `[`. Returns the tag, `None` if it is damaged,
/// and the text after it. A tag ends with its line.
pub(super) fn read(text: &str) -> (Option<(&str, String)>, &str) {
    let inside = &text[1..];
    let Some(end) = inside.find(['"', ']', '\n']) else { return (None, "") };
    let (name, rest) = inside.split_at(end);
    let Some(value) = rest.strip_prefix('"') else {
        return (None, rest.strip_prefix(']').unwrap_or(rest));
    };
    let (length, closed) = end_of_value(value);
    let name = name.trim();
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

/// The length of a value in bytes, and of what closes it: the first quote with a bracket after it, because some
/// programs do not escape quotes, else the first such quote after a backslash, because some do not escape backslashes,
/// else the first quote, else the end of the line.
fn end_of_value(value: &str) -> (usize, usize) {
    // Length of the value and of the closing quote and bracket, if they are here.
    let closed_at = |quote: usize| {
        let after = &value[quote + 1..];
        let bracket = after.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        bracket.starts_with(']').then(|| (quote, 1 + after.len() - bracket.len() + 1))
    };
    let (mut first, mut after_backslash) = (None, None);
    let mut escaped = false;
    for (index, c) in value.char_indices() {
        match c {
            '\n' => return after_backslash.or(first).unwrap_or((index, 0)),
            '"' if escaped => {
                escaped = false;
                after_backslash = after_backslash.or_else(|| closed_at(index));
            }
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => match closed_at(index) {
                Some(closed) => return closed,
                None => first = first.or(Some((index, 1))),
            },
            _ if first.is_some_and(|(first, _)| index - first > MAX_FORGOTTEN) => break,
            _ => {}
        }
    }
    after_backslash.or(first).unwrap_or((value.len(), 0))
}

/// A value without escapes: a backslash escapes a quote and a backslash.
fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match chars.peek() {
            Some(&next @ ('"' | '\\')) if c == '\\' => {
                chars.next();
                next
            }
            _ => c,
        };
        text.push(if c.is_control() { ' ' } else { c });
    }
    text
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
        assert_eq!(read("[A \"x\n1. e4"), (Some(("A", "x".to_owned())), "\n1. e4"));
        assert_eq!(read("[A x]\n[B"), (None, "\n[B"));
        assert_eq!(read("[A x\n[B"), (None, "\n[B"));
        assert_eq!(read("[A \"x\\\n\"]"), (Some(("A", "x\\".to_owned())), "\n\"]"));
        assert_eq!(read("[A \"x\"\n]"), (Some(("A", "x".to_owned())), "\n]"));
        assert_eq!(read("[1A \"x\"]"), (None, ""));
    }

    #[test]
    fn quotes_may_be_escaped_or_forgotten_to_be() {
        assert_eq!(value(r#"[A "x \"y\" \\"]"#).as_deref(), Some(r#"x "y" \"#));
        assert_eq!(value(r#"[A "Hasty "B."]"#).as_deref(), Some(r#"Hasty "B."#));
        assert_eq!(value(r#"[A "C:\dir"]"#).as_deref(), Some(r"C:\dir"));
        assert_eq!(value("[A \"C:\\dir\\\"]\n[B \"y\"]").as_deref(), Some("C:\\dir\\"));
        assert_eq!(value(r#"[A "of \"x\"] and y"]"#).as_deref(), Some(r#"of "x"] and y"#));
        let far = format!("[A \"x\" {}\"]", "y".repeat(2 * MAX_FORGOTTEN));
        assert_eq!(value(&far).as_deref(), Some("x"));
    }
}
