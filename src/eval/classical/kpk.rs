//! King and pawn against king: a bitbase, computed once.
//!
//! ```text
//!  index = side to move 1 | weak king 6 | strong king 6 | pawn 24 (files a to d, ranks 2 to 7)
//! ```
//! Solved by retrograde iteration from the positions that are decided at once, until nothing changes.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Square, attacks};

const PAWNS: usize = 24;
const SIZE: usize = 2 * 64 * 64 * PAWNS;

static WINS: LazyLock<Vec<u64>> = LazyLock::new(solve);

#[derive(Copy, Clone, PartialEq, Eq)]
enum KpkResult {
    Illegal,
    Unknown,
    Draw,
    Win,
}

/// A position with the pawn on files a to d, turned so that the strong side is White.
#[derive(Copy, Clone)]
struct KpkState {
    strong_to_move: bool,
    strong: Square,
    weak: Square,
    pawn: Square,
}

impl KpkState {
    fn index(self) -> usize {
        let pawn = (self.pawn.to_usize() / 8 - 1) * 4 + self.pawn.to_usize() % 8;
        ((usize::from(self.strong_to_move) * 64 + self.weak.to_usize()) * 64 + self.strong.to_usize()) * PAWNS
            + pawn
    }

    fn from_index(index: usize) -> KpkState {
        let pawn = index % PAWNS;
        let square = |n: usize| Square::new((n % 64) as u32);
        KpkState {
            pawn: square((pawn / 4 + 1) * 8 + pawn % 4),
            strong: square(index / PAWNS),
            weak: square(index / PAWNS / 64),
            strong_to_move: index / PAWNS / 64 / 64 == 1,
        }
    }

    /// The square in front of the pawn. The pawn is never on the last rank.
    fn step(self) -> Square {
        Square::new(self.pawn.to_u32() + 8)
    }

    /// The result, if it is decided at once.
    fn first_verdict(self) -> KpkResult {
        let pawn_hits = attacks::pawn_attacks(Color::White, self.pawn);
        if self.strong.distance(self.weak) <= 1
            || self.strong == self.pawn
            || self.weak == self.pawn
            || (self.strong_to_move && pawn_hits.contains(self.weak))
        {
            return KpkResult::Illegal;
        }
        if self.strong_to_move {
            let goal = self.step();
            let promotes = self.pawn.to_u32() >= 48 && goal != self.strong && goal != self.weak;
            let safely = self.weak.distance(goal) > 1 || self.strong.distance(goal) <= 1;
            return if promotes && safely { KpkResult::Win } else { KpkResult::Unknown };
        }
        let guarded = attacks::king_attacks(self.strong);
        let moves = attacks::king_attacks(self.weak) & !guarded & !pawn_hits;
        if moves.is_empty() || moves.contains(self.pawn) { KpkResult::Draw } else { KpkResult::Unknown }
    }

    /// The result according to the successors.
    fn next_verdict(self, known: &[KpkResult]) -> KpkResult {
        let (good, bad) = if self.strong_to_move {
            (KpkResult::Win, KpkResult::Draw)
        } else {
            (KpkResult::Draw, KpkResult::Win)
        };
        let mut all_bad = true;
        let mut see = |next: KpkState| {
            let verdict = known[next.index()];
            all_bad &= verdict == bad || verdict == KpkResult::Illegal;
            verdict == good
        };
        let turned = KpkState { strong_to_move: !self.strong_to_move, ..self };
        let found = if self.strong_to_move {
            let by_king = attacks::king_attacks(self.strong)
                .into_iter()
                .any(|strong| see(KpkState { strong, ..turned }));
            by_king || self.pawn_moves().any(|pawn| see(KpkState { pawn, ..turned }))
        } else {
            attacks::king_attacks(self.weak).into_iter().any(|weak| see(KpkState { weak, ..turned }))
        };
        if found {
            good
        } else if all_bad {
            bad
        } else {
            KpkResult::Unknown
        }
    }

    /// Pawn moves other than promotions.
    fn pawn_moves(self) -> impl Iterator<Item = Square> {
        let kings = Bitboard::from(self.strong) | Bitboard::from(self.weak);
        let free = |square: Square| !kings.contains(square);
        let single = (self.pawn.to_u32() < 48 && free(self.step())).then(|| self.step());
        let double = single
            .filter(|_| self.pawn.to_u32() < 16)
            .map(|square| Square::new(square.to_u32() + 8))
            .filter(|&square| free(square));
        single.into_iter().chain(double)
    }
}

fn solve() -> Vec<u64> {
    let mut verdicts: Vec<KpkResult> =
        (0..SIZE).map(|index| KpkState::from_index(index).first_verdict()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for index in 0..SIZE {
            if verdicts[index] == KpkResult::Unknown {
                let verdict = KpkState::from_index(index).next_verdict(&verdicts);
                changed |= verdict != KpkResult::Unknown;
                verdicts[index] = verdict;
            }
        }
    }
    let bits = |chunk: &[KpkResult]| {
        chunk.iter().rev().fold(0, |bits, &verdict| bits << 1 | u64::from(verdict == KpkResult::Win))
    };
    verdicts.chunks(64).map(bits).collect()
}

/// Computes the bitbase, some 10 ms of processor time. Otherwise the first call of [`is_win`] computes it.
pub fn prepare() {
    LazyLock::force(&WINS);
}

/// Does the side with the pawn win, which plays upwards? The pawn is on ranks 2 to 7.
pub fn is_win(strong: Square, pawn: Square, weak: Square, strong_to_move: bool) -> bool {
    let mirror = pawn.to_u32() & 7 >= 4;
    let seen = |square: Square| if mirror { square.flip_horizontal() } else { square };
    let state = KpkState { strong_to_move, strong: seen(strong), weak: seen(weak), pawn: seen(pawn) };
    let index = state.index();
    WINS[index / 64] >> (index % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_positions_are_won_as_is_known() {
        let wins: u32 = WINS.iter().map(|bits| bits.count_ones()).sum();
        assert_eq!(wins, 111_282);
    }

    #[test]
    fn textbook_positions() {
        use Square::*;
        // The key squares, the opposition, the rook pawn.
        assert!(is_win(E6, E5, E8, true) && is_win(E6, E5, E8, false));
        assert!(!is_win(E5, E4, E7, true) && is_win(E5, E4, E7, false));
        assert!(!is_win(A6, A5, A8, true) && !is_win(H6, H5, G8, true));
        assert!(is_win(B7, A5, D7, true));
        // The square of the pawn.
        assert!(!is_win(A1, H4, D5, false) && is_win(A1, H4, C4, true));
    }
}
