//! Every number of the evaluation in one table.
//!
//! Values are in centipawns, `s(middlegame, endgame)`, from the point of view of the side that has the
//! feature; a penalty is negative. Arrays named `…_by_rank` start at the own back rank, files are folded
//! (a and h first, d and e last). They are our own: set from chess knowledge, to be tuned on our own games.

use super::pair::Pair;

const fn s(mg: i32, eg: i32) -> Pair {
    Pair::new(mg, eg)
}

/// The worth of a square: a part for its rank and a part for its folded file.
pub struct Squares {
    /// From the own back rank.
    pub rank: [Pair; 8],
    /// From the edge to the middle.
    pub file: [Pair; 4],
}

/// King attack: units of danger, of which the penalty is the square.
pub struct Danger {
    /// By role of an attacker of the ring: knight, bishop, rook, queen.
    pub attacker: [i32; 4],
    /// For each attack on a square next to the king.
    pub hit: i32,
    /// For each ring square that we attack and only king or queen defend.
    pub weak: i32,
    /// For each role with a safe check: knight, bishop, rook, queen.
    pub safe_check: [i32; 4],
    /// For a second safe check by the same role, in percent of the first.
    pub more_checks: i32,
    /// For each square of an unsafe check.
    pub unsafe_check: i32,
    /// For each pinned defender.
    pub pinned: i32,
    /// Taken off where the attacker has no queen.
    pub no_queen: i32,
    /// Taken off where a knight stands guard beside the king.
    pub knight_guard: i32,
    /// Taken off always.
    pub offset: i32,
    /// Percent of the shelter's middlegame value taken off.
    pub shelter: i32,
    /// The penalty is the square of the units, divided by this, in the middlegame.
    pub divisor: i32,
    /// The penalty is the units divided by this in the endgame.
    pub endgame_divisor: i32,
    /// No more units than this count.
    pub limit: i32,
}

/// All weights. A field without a comment is what the term of its name gives each time it applies; the terms
/// are described at [`super::Term`].
pub struct Weights {
    /// Pawn, knight, bishop, rook, queen, king.
    pub material: [Pair; 6],
    pub bishop_pair: Pair,
    /// For each own pawn above five, for each knight.
    pub knight_pawns: Pair,
    /// For each own pawn above five, for each rook.
    pub rook_pawns: Pair,
    pub second_rook: Pair,
    pub second_knight: Pair,
    /// Queen against the opponent's many minor pieces, for each above two.
    pub queen_minors: Pair,

    /// Pawn to king.
    pub squares: [Squares; 6],

    pub isolated: Pair,
    pub isolated_unopposed: Pair,
    pub doubled: Pair,
    pub backward: Pair,
    pub backward_unopposed: Pair,
    pub phalanx_by_rank: [Pair; 8],
    pub supported_by_rank: [Pair; 8],
    pub candidate_by_rank: [Pair; 8],

    pub knight_mobility: [Pair; 9],
    pub bishop_mobility: [Pair; 14],
    pub rook_mobility: [Pair; 15],
    pub queen_mobility: [Pair; 28],

    pub knight_outpost: Pair,
    pub bishop_outpost: Pair,
    pub reachable_outpost: Pair,
    pub minor_behind_pawn: Pair,
    /// For each own pawn on the bishop's colour.
    pub bishop_pawn: Pair,
    /// For each of those, for each own pawn blocked in the centre.
    pub bishop_blocked_center: Pair,
    pub long_diagonal: Pair,
    /// For each king step between a minor piece and its king: knight, bishop.
    pub king_protector: [Pair; 2],
    pub trapped_bishop: Pair,
    pub rook_open_file: Pair,
    pub rook_half_open_file: Pair,
    pub rook_seventh: Pair,
    pub trapped_rook: Pair,
    pub queen_in_line: Pair,

    /// By folded file and rank of the foremost shelter pawn; rank 0 = none.
    pub shelter: [[i32; 8]; 4],
    /// By folded file and rank of the nearest storming pawn (from the defender's side); rank 0 = none.
    pub storm: [[i32; 8]; 4],
    /// A storming pawn that stands right before a shelter pawn, by rank.
    pub storm_blocked: [Pair; 8],
    pub king_open_file: Pair,
    /// For each step to the nearest own pawn.
    pub king_pawn_distance: Pair,
    pub danger: Danger,

    /// By role of the victim, pawn to king.
    pub threat_by_minor: [Pair; 6],
    pub threat_by_rook: [Pair; 6],
    pub threat_by_king: Pair,
    pub threat_by_pawn: Pair,
    pub threat_by_push: Pair,
    pub hanging: Pair,
    pub queen_hit_by_knight: Pair,
    pub queen_hit_by_slider: Pair,
    pub restriction: Pair,

    pub passed_by_rank: [Pair; 8],
    /// Endgame, times a factor that grows with the rank: steps of the enemy and of the own king.
    pub passed_enemy_king: i32,
    pub passed_own_king: i32,
    /// By rank: nothing stands on the path.
    pub passed_free_by_rank: [Pair; 8],
    /// By rank: the next square is not attacked.
    pub passed_safe_step_by_rank: [Pair; 8],
    /// By rank: the whole path is not attacked.
    pub passed_safe_path_by_rank: [Pair; 8],
    /// By rank: the next square is defended.
    pub passed_supported_by_rank: [Pair; 8],
    /// By rank: an enemy man stands before it.
    pub passed_blocked_by_rank: [Pair; 8],
    pub passed_rook_behind: Pair,
    pub passed_enemy_rook_behind: Pair,
    pub passed_edge: Pair,
    pub unstoppable: Pair,

    pub space: i32,

    pub initiative_passed: i32,
    pub initiative_pawn: i32,
    pub initiative_outflanking: i32,
    pub initiative_both_wings: i32,
    pub initiative_infiltration: i32,
    pub initiative_pawn_ending: i32,
    pub initiative_offset: i32,

    pub tempo: i32,
}

/// The weights that the engine plays with.
pub static WEIGHTS: Weights = Weights {
    material: [s(80, 102), s(335, 345), s(350, 365), s(475, 585), s(1015, 1110), s(0, 0)],
    bishop_pair: s(26, 52),
    knight_pawns: s(3, 4),
    rook_pawns: s(-4, -1),
    second_rook: s(-14, -22),
    second_knight: s(-6, -10),
    queen_minors: s(-6, -10),

    squares: [
        // Pawn: the centre files forward; rank progress is worth more late.
        Squares {
            rank: [s(0, 0), s(-4, 2), s(-5, -3), s(1, -4), s(7, 2), s(14, 12), s(20, 22), s(0, 0)],
            file: [s(-8, 3), s(-2, 2), s(2, 0), s(8, -2)],
        },
        // Knight: the centre, and never the rim.
        Squares {
            rank: [s(-38, -24), s(-16, -12), s(-2, -4), s(8, 6), s(16, 10), s(18, 4), s(2, -8), s(-36, -24)],
            file: [s(-24, -18), s(-6, -6), s(5, 3), s(11, 8)],
        },
        // Bishop: off the back rank.
        Squares {
            rank: [s(-14, -10), s(2, -5), s(4, 0), s(3, 3), s(6, 3), s(4, 1), s(-3, -3), s(-12, -6)],
            file: [s(-6, -5), s(2, -1), s(1, 1), s(4, 3)],
        },
        // Rook: central files early, far ranks late.
        Squares {
            rank: [s(-6, -6), s(-10, -6), s(-9, -3), s(-7, 0), s(-2, 2), s(4, 4), s(10, 6), s(6, 4)],
            file: [s(-7, 0), s(-2, 0), s(3, 0), s(6, 0)],
        },
        // Queen: not too far forward early, central late.
        Squares {
            rank: [s(-2, -22), s(3, -10), s(3, -2), s(2, 8), s(0, 12), s(-2, 10), s(-5, 2), s(-5, -4)],
            file: [s(-4, -12), s(0, -3), s(2, 4), s(2, 8)],
        },
        // King: behind his pawns early, in the centre late.
        Squares {
            rank: [
                s(24, -34),
                s(8, -10),
                s(-26, 6),
                s(-48, 18),
                s(-62, 26),
                s(-68, 26),
                s(-72, 12),
                s(-76, -18),
            ],
            file: [s(22, -20), s(26, -2), s(-4, 9), s(-18, 14)],
        },
    ],

    isolated: s(-7, -11),
    isolated_unopposed: s(-9, -9),
    doubled: s(-8, -24),
    backward: s(-7, -10),
    backward_unopposed: s(-8, -7),
    phalanx_by_rank: [s(0, 0), s(4, 0), s(8, 3), s(12, 8), s(26, 22), s(52, 54), s(90, 96), s(0, 0)],
    supported_by_rank: [s(0, 0), s(0, 0), s(11, 5), s(10, 6), s(15, 12), s(32, 32), s(60, 60), s(0, 0)],
    candidate_by_rank: [s(0, 0), s(0, 3), s(2, 6), s(6, 14), s(14, 28), s(28, 48), s(0, 0), s(0, 0)],

    knight_mobility: [
        s(-42, -54),
        s(-28, -34),
        s(-10, -16),
        s(-2, -4),
        s(5, 4),
        s(10, 10),
        s(16, 13),
        s(21, 15),
        s(25, 15),
    ],
    bishop_mobility: [
        s(-34, -44),
        s(-18, -26),
        s(-4, -10),
        s(5, 0),
        s(11, 8),
        s(17, 15),
        s(22, 20),
        s(26, 24),
        s(29, 28),
        s(31, 31),
        s(34, 33),
        s(37, 35),
        s(40, 38),
        s(43, 42),
    ],
    rook_mobility: [
        s(-36, -58),
        s(-20, -32),
        s(-10, -12),
        s(-5, 2),
        s(-2, 12),
        s(1, 21),
        s(4, 29),
        s(8, 36),
        s(12, 42),
        s(15, 48),
        s(18, 53),
        s(21, 57),
        s(23, 60),
        s(25, 62),
        s(27, 64),
    ],
    queen_mobility: [
        s(-26, -50),
        s(-18, -38),
        s(-11, -27),
        s(-6, -18),
        s(-2, -10),
        s(1, -2),
        s(4, 5),
        s(6, 11),
        s(8, 17),
        s(10, 22),
        s(12, 27),
        s(14, 31),
        s(15, 35),
        s(16, 39),
        s(17, 42),
        s(18, 45),
        s(19, 48),
        s(20, 50),
        s(21, 52),
        s(22, 54),
        s(23, 56),
        s(24, 58),
        s(26, 60),
        s(28, 62),
        s(30, 64),
        s(32, 66),
        s(34, 68),
        s(36, 70),
    ],

    knight_outpost: s(30, 20),
    bishop_outpost: s(18, 10),
    reachable_outpost: s(15, 8),
    minor_behind_pawn: s(9, 2),
    bishop_pawn: s(-2, -4),
    bishop_blocked_center: s(-1, -2),
    long_diagonal: s(22, 2),
    king_protector: [s(-3, -4), s(-2, -3)],
    trapped_bishop: s(-95, -110),
    rook_open_file: s(26, 14),
    rook_half_open_file: s(10, 8),
    rook_seventh: s(6, 22),
    trapped_rook: s(-34, -8),
    queen_in_line: s(-20, -10),

    shelter: [
        [-4, 36, 40, 22, 16, 10, 10, 0],
        [-28, 32, 20, -22, -14, -8, -18, 0],
        [-8, 38, 14, -4, 10, 4, -12, 0],
        [-22, 14, 4, -18, -16, -20, -40, 0],
    ],
    storm: [
        [-12, 24, -6, -34, -20, -14, -6, 0],
        [-10, 16, -24, -32, -18, -8, -4, 0],
        [-4, 16, -36, -32, -16, -4, 0, 0],
        [-8, 8, -36, -22, -12, 2, 0, 0],
    ],
    storm_blocked: [s(0, 0), s(0, 0), s(-38, -34), s(-4, -6), s(2, -4), s(2, -2), s(0, 0), s(0, 0)],
    king_open_file: s(-14, 4),
    king_pawn_distance: s(0, -9),
    danger: Danger {
        attacker: [14, 10, 11, 9],
        hit: 8,
        weak: 18,
        safe_check: [80, 62, 104, 88],
        more_checks: 60,
        unsafe_check: 12,
        pinned: 14,
        no_queen: 165,
        knight_guard: 14,
        offset: 8,
        shelter: 30,
        divisor: 300,
        endgame_divisor: 14,
        limit: 900,
    },

    threat_by_minor: [s(3, 16), s(30, 24), s(38, 30), s(54, 60), s(48, 76), s(0, 0)],
    threat_by_rook: [s(1, 24), s(22, 34), s(25, 34), s(0, 20), s(36, 30), s(0, 0)],
    threat_by_king: s(14, 42),
    threat_by_pawn: s(92, 50),
    threat_by_push: s(26, 20),
    hanging: s(36, 20),
    queen_hit_by_knight: s(9, 6),
    queen_hit_by_slider: s(30, 10),
    restriction: s(3, 4),

    passed_by_rank: [s(0, 0), s(2, 10), s(4, 14), s(4, 22), s(28, 42), s(72, 92), s(128, 146), s(0, 0)],
    passed_enemy_king: 5,
    passed_own_king: 3,
    passed_free_by_rank: [s(0, 0), s(0, 0), s(0, 2), s(1, 5), s(5, 12), s(12, 24), s(18, 34), s(0, 0)],
    passed_safe_step_by_rank: [s(0, 0), s(0, 0), s(0, 2), s(3, 6), s(7, 14), s(13, 24), s(20, 40), s(0, 0)],
    passed_safe_path_by_rank: [s(0, 0), s(0, 0), s(1, 3), s(5, 8), s(11, 18), s(22, 34), s(26, 50), s(0, 0)],
    passed_supported_by_rank: [s(0, 0), s(0, 0), s(1, 1), s(2, 3), s(5, 7), s(10, 13), s(16, 22), s(0, 0)],
    passed_blocked_by_rank: [
        s(0, 0),
        s(0, -2),
        s(-1, -5),
        s(-3, -10),
        s(-10, -20),
        s(-22, -36),
        s(-34, -54),
        s(0, 0),
    ],
    passed_rook_behind: s(6, 20),
    passed_enemy_rook_behind: s(-4, -16),
    passed_edge: s(-4, 6),
    unstoppable: s(0, 420),

    space: 5,

    initiative_passed: 5,
    initiative_pawn: 6,
    initiative_outflanking: 4,
    initiative_both_wings: 11,
    initiative_infiltration: 12,
    initiative_pawn_ending: 25,
    initiative_offset: -50,

    tempo: 18,
};
