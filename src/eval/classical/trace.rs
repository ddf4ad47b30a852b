//! The contribution of each term. The terms report to a [`Tracer`]; [`NoTrace`] compiles to nothing, so the traced
//! evaluation and the fast one are the same code.

use std::fmt;

use shakmaty::Color;

use super::{
    geometry::Side,
    pair::{FULL_SCALE, MIDDLEGAME, Pair},
};
use crate::types::Score;

macro_rules! terms {
    ($($(#[doc = $doc:literal])+ $name:ident => $label:literal,)*) => {
        /// The terms of the evaluation.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum Term { $($(#[doc = $doc])+ $name,)* }

        impl Term {
            const ALL: &[(Term, &str)] = &[$((Term::$name, $label),)*];
        }
    };
}

terms! {
    /// The pieces by their average value.
    Material => "material",
    /// Two bishops together.
    BishopPair => "bishop pair",
    /// Pieces that are worth more or less together with others: knights with many pawns, the second rook.
    Imbalance => "imbalance",
    /// Piece-square values.
    Squares => "squares",
    /// Pawns without own pawns on the neighbouring files.
    Isolated => "isolated pawn",
    /// Pawns behind another of their own on the same file.
    Doubled => "doubled pawn",
    /// Pawns left behind by their neighbours that cannot advance safely.
    Backward => "backward pawn",
    /// Pawns beside or guarded by another, by rank.
    Connected => "connected pawn",
    /// Pawns that can take a pawn, or be taken by two.
    Lever => "lever",
    /// Pawns blocked by enemy pawns.
    Rammed => "rammed pawn",
    /// Groups of neighbouring files with pawns, wings with more pawns than the opponent, squares in the own
    /// camp that no pawn can ever guard.
    Islands => "islands and holes",
    /// Pawns that exchanges may turn into passed ones.
    Candidate => "candidate passer",
    /// Squares to which a piece can go without being taken by a pawn.
    Mobility => "mobility",
    /// Minor pieces on squares from which no pawn can drive them away, or that can reach such a square.
    Outpost => "outpost",
    /// Minor pieces sheltered by a pawn in front of them.
    BehindPawn => "minor behind pawn",
    /// Pieces among locked pawns.
    Closed => "closed position",
    /// Pawns fixed on the colour of an own bishop, or in the way of it.
    BadBishop => "bad bishop",
    /// A bishop that sees both central squares of a long diagonal.
    LongDiagonal => "long diagonal",
    /// Pieces by their distance from both kings.
    Tropism => "distance of kings",
    /// A bishop shut in by pawns in a corner of the enemy camp.
    TrappedBishop => "trapped bishop",
    /// Rooks on files without own pawns, or without any.
    RookFile => "rook on file",
    /// Rooks on the seventh rank, if the king is on the eighth or pawns are on the seventh.
    RookSeventh => "rook on seventh",
    /// A rook shut in by its own king.
    TrappedRook => "trapped rook",
    /// A queen in line with an enemy slider through one piece.
    QueenPin => "queen in line",
    /// A queen in the enemy half where no pawn can drive her away.
    Infiltration => "queen infiltration",
    /// Pieces pinned to their own king.
    Pinned => "pinned",
    /// Own pawns in front of the king and enemy pawns that storm him.
    Shelter => "king shelter",
    /// The king's distance from all pawns.
    KingPawns => "king and pawns",
    /// How concentrated the attack on the king is.
    KingDanger => "king danger",
    /// Pieces attacked by a pawn that is safe itself.
    PawnThreat => "threat by pawn",
    /// Pieces that a pawn attacks after one safe step.
    PushThreat => "threat by push",
    /// Pieces attacked by a knight or bishop.
    MinorThreat => "threat by minor",
    /// Pieces attacked by a rook.
    RookThreat => "threat by rook",
    /// Weak pieces attacked by the king.
    KingThreat => "threat by king",
    /// Pieces attacked and not defended, attacked twice and defended once, or defended by the queen alone.
    Hanging => "hanging",
    /// Safe squares from which a minor piece or rook would attack the queen.
    QueenHit => "queen to be hit",
    /// Squares contested by us on which the opponent is restricted.
    Restriction => "restriction",
    /// Passed pawns by rank.
    Passed => "passed pawn",
    /// Passed pawns by the kings' distance from their path.
    PassedKings => "passed: kings",
    /// Passed pawns by how free and safe their path is.
    PassedPath => "passed: path",
    /// Rooks behind own passed pawns, or the opponent's.
    PassedRook => "passed: rook behind",
    /// Passed pawns that a bare king does not catch.
    Unstoppable => "passed: unstoppable",
    /// Safe squares behind the own pawns in the centre, for manoeuvring.
    Space => "space",
    /// Winning chances of the better side: pawns on both wings, passed pawns, active kings.
    Initiative => "initiative",
    /// The side to move.
    Tempo => "tempo",
    /// A known endgame, which has an evaluation of its own.
    Endgame => "known endgame",
}

/// Receives the contributions of the terms.
pub trait Tracer {
    /// Does it record? Then the caches are not used, because terms found there are not reported.
    const LISTENS: bool = true;

    /// Records that `value` comes from `term`, from the point of view of `color`; without a colour it is a term of
    /// neither side, from White's point of view.
    fn record(&mut self, term: Term, color: Option<Color>, value: Pair) {
        let _ = (term, color, value);
    }
}

/// Records nothing.
#[derive(Copy, Clone, Debug)]
pub struct NoTrace;

impl Tracer for NoTrace {
    const LISTENS: bool = false;
}

/// The running sum of an evaluation, from White's point of view.
pub struct ScoreSum<'t, T> {
    /// The sum so far.
    pub total: Pair,
    tracer: &'t mut T,
}

impl<'t, T: Tracer> ScoreSum<'t, T> {
    /// An empty sum.
    pub fn new(tracer: &'t mut T) -> ScoreSum<'t, T> {
        ScoreSum { total: Pair::ZERO, tracer }
    }

    /// The sum so far from the point of view of one side.
    pub fn own<S: Side>(&self) -> Pair {
        if S::US.is_white() { self.total } else { -self.total }
    }

    /// Adds a weight `times` times for one side.
    #[inline(always)]
    pub fn add<S: Side>(&mut self, term: Term, weight: &Pair, times: i32) {
        self.add_value::<S>(term, *weight * times);
    }

    /// Adds the value of a term for one side.
    #[inline(always)]
    pub fn add_value<S: Side>(&mut self, term: Term, value: Pair) {
        self.tracer.record(term, Some(S::US), value);
        if S::US.is_white() {
            self.total += value;
        } else {
            self.total -= value;
        }
    }

    /// Adds a term that belongs to no side, given from White's point of view.
    #[inline(always)]
    pub fn add_neutral(&mut self, term: Term, value: Pair) {
        self.tracer.record(term, None, value);
        self.total += value;
    }

    /// Adds a sum whose terms have been recorded already.
    #[inline(always)]
    pub fn carry(&mut self, value: Pair) {
        self.total += value;
    }
}

/// An evaluation from White's point of view.
#[derive(Copy, Clone, Debug, Default)]
pub struct Assessment {
    /// The score.
    pub score: Score,
    /// 0 (endgame) to [`MIDDLEGAME`].
    pub phase: i32,
    /// The scale of the endgame value, of [`FULL_SCALE`].
    pub scale: i32,
}

#[derive(Copy, Clone, Debug, Default)]
struct TraceRow {
    /// Black, white, neither.
    parts: [(i32, i32); 3],
}

/// The contributions of all terms to one position's evaluation.
#[derive(Clone, Debug)]
pub struct Trace {
    rows: [TraceRow; Term::ALL.len()],
    /// The evaluation that they add up to.
    pub result: Assessment,
}

impl Trace {
    pub(super) fn new() -> Trace {
        Trace { rows: [TraceRow::default(); Term::ALL.len()], result: Assessment::default() }
    }

    /// A term's middlegame and endgame sum in internal units, from White's point of view.
    pub fn term(&self, term: Term) -> (i32, i32) {
        let [black, white, neither] = self.rows[term as usize].parts;
        (white.0 - black.0 + neither.0, white.1 - black.1 + neither.1)
    }
}

impl Tracer for Trace {
    fn record(&mut self, term: Term, color: Option<Color>, value: Pair) {
        // A known endgame replaces everything added up so far.
        if term == Term::Endgame {
            self.rows = [TraceRow::default(); Term::ALL.len()];
        }
        let part = color.map_or(2, |color| color as usize);
        let (mg, eg) = &mut self.rows[term as usize].parts[part];
        *mg += value.mg();
        *eg += value.eg();
    }
}

fn pawns(centipawns: i32) -> f64 {
    f64::from(Score(centipawns).centipawns()) / 100.0
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>20} |     White     |     Black     |     Total", "Term")?;
        writeln!(f, "{:>20} |    mg     eg  |    mg     eg  |    mg     eg", "")?;
        let line = "---------------------+---------------+---------------+---------------";
        writeln!(f, "{line}")?;
        let mut sum = (0, 0);
        for &(term, label) in Term::ALL {
            let [black, white, neither] = self.rows[term as usize].parts;
            let total = self.term(term);
            sum = (sum.0 + total.0, sum.1 + total.1);
            if [black, white, neither] == [(0, 0); 3] {
                continue;
            }
            write!(f, "{label:>20} |")?;
            for part in [white, black] {
                if neither == (0, 0) {
                    write!(f, " {:>6.2} {:>6.2} |", pawns(part.0), pawns(part.1))?;
                } else {
                    write!(f, " {:>6} {:>6} |", "----", "----")?;
                }
            }
            writeln!(f, " {:>6.2} {:>6.2}", pawns(total.0), pawns(total.1))?;
        }
        writeln!(f, "{line}")?;
        writeln!(f, "{:>20} | {:>45.2} {:>6.2}", "Sum", pawns(sum.0), pawns(sum.1))?;
        writeln!(f)?;
        let Assessment { score, phase, scale } = self.result;
        writeln!(f, "Phase {phase}/{MIDDLEGAME}, endgame scale {scale}/{FULL_SCALE}")?;
        write!(f, "Final evaluation {:+.2} (White's view)", pawns(score.0))
    }
}
