//! Printed signs and their numeric annotation glyphs.
//!
//! 1 to 139 are numbers of the PGN standard (section 10), the others are those that Scid and ChessBase have in common
//! use. The signs are those of Chess Informant, of the standard, and what programs without such characters print instead.

/// Signs that judge a move and may stand behind it without a space; a sign comes after those that begin with it.
const JUDGEMENTS: [(u32, &str); 10] =
    [(3, "!!"), (4, "??"), (5, "!?"), (6, "?!"), (1, "!"), (2, "?"), (3, "‼"), (4, "⁇"), (5, "⁉"), (6, "⁈")];

/// The other signs. The first one of a number is the one that is shown for it, the first number of a sign the one that
/// is read.
#[rustfmt::skip]
const SIGNS: [(u32, &str); 153] = [
    (7, "□"), (7, "forced"), (8, "□"), (8, "singular"), (9, "worst"),
    (10, "="), (11, "="), (12, "↹"), (13, "∞"), (13, "~"),
    (14, "⩲"), (14, "+="), (14, "+/="), (15, "⩱"), (15, "=+"), (15, "=/+"),
    (16, "±"), (16, "+/-"), (17, "∓"), (17, "-/+"), (18, "+-"), (19, "-+"), (20, "+--"), (21, "--+"),
    (22, "⨀"), (22, "⊙"), (22, "zz"), (23, "⨀"),
    (24, "◯"), (25, "◯"), (26, "○"), (26, "◯◯"), (27, "○"), (28, "◯◯◯"), (29, "◯◯◯"),
    (30, "↻"), (31, "↺"), (32, "⟳"), (32, "↻↻"), (33, "⟳"), (33, "↺↺"), (34, "↻↻↻"), (35, "↺↺↺"),
    (36, "↑"), (36, "^"), (37, "↓"), (38, "⇑"), (38, "^^"), (39, "⇓"), (40, "→"), (40, "->"), (41, "←"), (41, "<-"),
    (42, "&/-"), (43, "&/+"),
    (44, "=∞"), (44, "=/∞"), (44, "=/&"), (44, "~="), (44, "⯹"), (45, "=∞"), (46, "+/&"), (47, "-/&"),
    (48, "⊞"), (49, "⊞"), (50, "⊞⊞"), (51, "⊞⊞"), (52, "⊞⊞⊞"), (53, "⊞⊞⊞"),
    (54, "⟩"), (54, ">"), (55, "⟩"), (56, "⟫"), (56, ">>"), (57, "⟫"), (58, "⋙"), (58, ">>>"), (59, "⋙"),
    (60, "⟨"), (60, "<"), (61, "⟨"), (62, "⟪"), (62, "<<"), (63, "⟪"), (64, "⋘"), (64, "<<<"), (65, "⋘"),
    (92, "↗"), (93, "↖"), (96, "⇈"), (96, "||"), (97, "⇊"),
    (130, "⇄"), (130, "<+>"), (132, "⇆"), (132, "⇄⇄"), (132, "<++>"), (131, "⇆"), (131, "<->"),
    (133, "⇆⇆"), (133, "<-->"), (134, "⇄⇄⇄"), (134, "<+++>"), (135, "⇆⇆⇆"), (135, "<--->"),
    (136, "⊕"), (137, "⊖"), (138, "⨁"), (138, "⊕⊕"), (139, "⊖⊖"),
    (140, "∆"), (140, "Δ"), (140, "△"), (141, "∇"), (141, "▽"), (142, "⌓"), (142, ">="), (143, "≤"), (143, "<="),
    (144, "=="), (144, "R"), (145, "RR"), (146, "N"), (146, "TN"),
    (147, "×"), (147, "✕"), (148, "⊥"), (148, "_|_"), (149, "⟺"), (149, "⇔"), (149, "<=>"),
    (150, "⇗"), (150, "//"), (151, "◫"), (153, "◨"), (154, "⊶"),
    (190, "ǁ"), (191, "⡁"), (191, "⯼"), (192, "⚯"), (192, "⯻"), (193, "⚮"), (193, "⯺"),
    (220, "D"), (201, "D"), (210, "—"), (211, "#"), (212, "⚨"), (212, "⯽"), (214, "⌊"), (214, "∟"),
    (215, "⌋"), (215, "⯾"),
];

/// The sign that is printed for a numeric annotation glyph; `None` for one that has none.
pub fn sign(nag: u32) -> Option<&'static str> {
    JUDGEMENTS.iter().chain(&SIGNS).find(|(number, _)| *number == nag).map(|&(_, sign)| sign)
}

/// The number of a sign that is a word of its own.
pub(super) fn nag(word: &str) -> Option<u32> {
    SIGNS.iter().find(|(_, sign)| *sign == word).map(|&(nag, _)| nag)
}

/// The judgement of a move at the beginning of `text`: its number, and the length of its sign in bytes.
pub(super) fn judgement(text: &str) -> Option<(u32, usize)> {
    JUDGEMENTS.iter().find(|(_, sign)| text.starts_with(sign)).map(|&(nag, sign)| (nag, sign.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_read_as_the_number_for_which_it_is_shown() {
        for (shown, numbers) in
            [("⩲", &[14][..]), ("±", &[16]), ("∞", &[13]), ("⇆", &[132, 131]), ("□", &[7, 8])]
        {
            assert!(numbers.iter().all(|&number| sign(number) == Some(shown)), "{shown}");
            assert_eq!(nag(shown), Some(numbers[0]));
        }
        assert_eq!(
            (1..=6).map(|nag| sign(nag).unwrap_or_default()).collect::<Vec<_>>(),
            ["!", "?", "!!", "??", "!?", "?!"]
        );
        assert_eq!((sign(0), sign(99), sign(1000)), (None, None, None));
        for (_, sign) in JUDGEMENTS {
            assert_eq!(judgement(sign).map(|(_, length)| length), Some(sign.len()), "{sign}");
        }
    }
}
