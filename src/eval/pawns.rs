//! Pawn structure, first pass: what depends on the pawns alone and is kept in the pawn hash.

use shakmaty::{Bitboard, Role, attacks};

use super::{
    geometry::{Black, Side, White, adjacent_files, count, rank_of},
    pair::Pair,
    pawn_table::PawnEntry,
    squares,
    trace::{Tally, Term, Tracer},
    weights::WEIGHTS,
};

/// Evaluates the pawns (black, white).
#[cold]
pub fn analyse<T: Tracer>(pawns: [Bitboard; 2], tracer: &mut T) -> PawnEntry {
    let mut entry = PawnEntry::new(pawns);
    let mut tally = Tally::new(tracer);
    side::<White, T>(&mut entry, &mut tally);
    side::<Black, T>(&mut entry, &mut tally);
    entry.score = tally.total;
    entry
}

fn side<S: Side, T: Tracer>(entry: &mut PawnEntry, tally: &mut Tally<T>) {
    let w = &WEIGHTS;
    let (ours, theirs) = (entry.pawns[S::ME], entry.pawns[S::YOU]);
    let guarded_twice = S::Them::double_pawn_attacks(theirs);

    for square in ours {
        let rank = S::rank(square);
        let front = S::front(square);
        let neighbours = ours & adjacent_files(square);
        let phalanx = neighbours & rank_of(square);
        let support = ours & attacks::pawn_attacks(!S::US, square);
        let opposed = (theirs & front).any();
        let next = S::ahead(square);
        let blocker = theirs & Bitboard::from(next);
        let levers = theirs & attacks::pawn_attacks(S::US, square);
        let push_levers = theirs & attacks::pawn_attacks(S::US, next);
        let sentries = theirs & S::attack_span(square);
        let stoppers = sentries | (theirs & front);
        let behind_another = (ours & front).any();
        // Neighbours level with the pawn or behind it, which could still come to its help.
        let helpers = neighbours & !S::attack_span(square);

        entry.attack_span[S::ME] |= S::attack_span(square);
        tally.add::<S>(Term::Squares, squares::value::<S>(Role::Pawn, square));

        if neighbours.is_empty() {
            tally.add::<S>(Term::Isolated, w.isolated);
            if !opposed {
                tally.add::<S>(Term::Isolated, w.isolated_unopposed);
            }
        } else if helpers.is_empty() && (push_levers | blocker).any() {
            tally.add::<S>(Term::Backward, w.backward);
            if !opposed {
                tally.add::<S>(Term::Backward, w.backward_unopposed);
            }
        }
        if behind_another && support.is_empty() {
            tally.add::<S>(Term::Doubled, w.doubled);
        }
        let mut connected = w.supported_by_rank[rank] * count(support);
        if phalanx.any() {
            connected += w.phalanx_by_rank[rank];
        }
        if opposed {
            connected = Pair::new(connected.mg() * 3 / 4, connected.eg() / 2);
        }
        tally.add::<S>(Term::Connected, connected);

        // Passed: nothing ahead but what it may take, or what its neighbours deal with.
        let free = stoppers == levers
            || (stoppers == push_levers && count(phalanx) >= count(push_levers))
            || (stoppers == blocker && rank >= 4 && (S::push(support) & !(theirs | guarded_twice)).any());
        if free && !behind_another {
            entry.passed |= Bitboard::from(square);
        } else if !opposed && !behind_another && rank < 6 && count(helpers) >= count(sentries) {
            tally.add::<S>(Term::Candidate, w.candidate_by_rank[rank]);
        }
    }
}
