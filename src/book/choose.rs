use super::{BookMove, Experience};

/// Chooses a move at random, in proportion to the weights; with `best_move` the one with the largest weight, the first
/// in the file if there are several. `None` if all weights are 0. `learned` is the experience with each of `moves`, in
/// the same order, or empty. `random` is any number.
pub fn choose(moves: &[BookMove], learned: &[Experience], best_move: bool, random: u64) -> Option<BookMove> {
    let weight = |index: usize, book_move: &BookMove| {
        let experience = learned.get(index).copied().unwrap_or_default();
        f64::from(book_move.weight) * experience.factor()
    };
    let weights: Vec<f64> = moves.iter().enumerate().map(|(index, m)| weight(index, m)).collect();
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let index = if best_move {
        // Backwards, because `max_by` returns the last of equals.
        (0..weights.len()).rev().max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?
    } else {
        // 53 bits fill a double's mantissa: a number from 0 to just below 1.
        let mut left = total * ((random >> 11) as f64 / (1_u64 << 53) as f64);
        let found = weights.iter().position(|&weight| {
            left -= weight;
            left < 0.0
        });
        // Rounding may leave a small rest: then the last move with a weight is chosen.
        found.or_else(|| weights.iter().rposition(|&weight| weight > 0.0))?
    };
    moves.get(index).copied()
}

#[cfg(test)]
mod tests {
    use shakmaty::{Move, Role, Square};

    use super::*;

    fn moves(weights: &[u32]) -> Vec<BookMove> {
        let to = [Square::E4, Square::D4, Square::C4];
        let book_move = |index: usize, weight| BookMove {
            book_move: Move::Normal {
                role: Role::Pawn,
                from: Square::from_coords(to[index].file(), shakmaty::Rank::Second),
                capture: None,
                to: to[index],
                promotion: None,
            },
            weight,
            learn: 0,
            index,
        };
        weights.iter().enumerate().map(|(index, &weight)| book_move(index, weight)).collect()
    }

    #[test]
    fn weights_are_proportions() {
        let moves = moves(&[30, 0, 10]);
        let mut counts = [0; 3];
        for step in 0..4000_u64 {
            let chosen = choose(&moves, &[], false, step << 52).unwrap();
            counts[chosen.index] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((2900..=3100).contains(&counts[0]), "{counts:?}");
        assert_eq!(choose(&moves, &[], true, 7).unwrap().index, 0);
    }

    #[test]
    fn no_weight_is_no_move() {
        assert_eq!(choose(&moves(&[0, 0]), &[], false, 1), None);
        assert_eq!(choose(&[], &[], true, 1), None);
        assert!(choose(&moves(&[0, 1]), &[], false, u64::MAX).is_some());
    }

    #[test]
    fn lost_games_make_a_move_rare_and_won_ones_frequent() {
        let moves = moves(&[10, 10]);
        let mut lost = Experience::default();
        let mut won = Experience::default();
        for _ in 0..6 {
            lost.add(0);
            won.add(2);
        }
        assert_eq!(choose(&moves, &[lost], true, 0).unwrap().index, 1);
        assert_eq!(choose(&moves, &[Experience::default(), won], true, 0).unwrap().index, 1);
        let rare = (0..1000_u64)
            .filter(|step| choose(&moves, &[lost, won], false, step << 54).unwrap().index == 0)
            .count();
        assert!((1..150).contains(&rare), "{rare}");
    }
}
