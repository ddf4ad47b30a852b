/// `text` for quoting in a message: without control characters, and at most `longest` characters of it.
pub fn quote(text: &str, longest: usize) -> String {
    let text = text.trim();
    let mut quoted: String =
        text.chars().take(longest).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(longest).is_some() {
        quoted.push('…');
    }
    quoted
}
