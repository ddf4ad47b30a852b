/// A tag longer than this is cut.
const MAX_BYTES: usize = 1 << 14;

/// Reads `[Name "value"]` at the begin of `text`, which begins with `[`. The tag, or nothing where it is damaged,
/// and the text after it. A tag ends with its line.
pub(super) fn read(text: &str) -> (Option<(&str, String)>, &str) {
    let (line, after) = text.split_at(end_of_line(text));
    let inside = &line[1..];
    // Offsets into `text` from here on are those of `inside` and one more.
    let rest_from = |end: usize| text.get(1 + end..).unwrap_or(after);
    let quote = match inside.find(['"', ']']) {
        Some(quote) if inside[quote..].starts_with('"') => quote,
        Some(bracket) => return (None, rest_from(bracket + 1)),
        None => return (None, after),
    };
    let name = inside[..quote].trim();
    let value = &inside[quote + 1..];
    let (length, closed) = end_of_value(value);
    let rest = rest_from(quote + 1 + length + closed);
    (is_name(name).then(|| (name, unescaped(&value[..length]))), rest)
}

fn end_of_line(text: &str) -> usize {
    let most = text.len().min(MAX_BYTES);
    let end = text.bytes().take(most).position(|byte| byte == b'\n').unwrap_or(most);
    (0..=end).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0)
}

/// Does a line begin with a tag, as far as a glance tells?
pub(super) fn is_tag(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('[') else { return false };
    rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains('"')
}

/// The names that the PGN standard allows, and the signs that some programs put into theirs.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+#=:-".contains(&byte))
}

/// The length of a value in bytes, and of what closes it: the first quote with a bracket after it, because some
/// programs do not escape quotes, else the first quote, else the end of the line.
fn end_of_value(value: &str) -> (usize, usize) {
    let mut first = None;
    let mut escaped = false;
    for (index, c) in value.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => {
                let after = &value[index + 1..];
                let bracket = after.trim_start();
                if bracket.starts_with(']') {
                    return (index, 1 + after.len() - bracket.len() + 1);
                }
                first = first.or(Some(index));
            }
            _ => {}
        }
    }
    first.map_or((value.len(), 0), |index| (index, 1))
}

/// A value as it is meant: a backslash stands before a quote and before itself.
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
        assert_eq!(read("[1A \"x\"]"), (None, ""));
    }

    #[test]
    fn quotes_may_be_escaped_or_forgotten_to_be() {
        assert_eq!(value(r#"[A "x \"y\" \\"]"#).as_deref(), Some(r#"x "y" \"#));
        assert_eq!(value(r#"[A "Hasty "B."]"#).as_deref(), Some(r#"Hasty "B."#));
        assert_eq!(value(r#"[A "C:\dir"]"#).as_deref(), Some(r"C:\dir"));
    }
}
