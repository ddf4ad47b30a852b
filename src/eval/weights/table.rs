//! The weights of the evaluation. Written by `engram tune`: change the terms or the data, not the numbers.
//!
//! In centipawns, `s(middlegame, endgame)`, for the side that has the feature; those of the king danger in
//! units whose square is the penalty. Ranks count from the own back rank, folded files from the edge.

weights! {
    /// The men by their average worth: pawn, knight, bishop, rook, queen.
    material: [Pair; 5] = [
        s(69, 98), s(355, 363), s(371, 379), s(503, 638), s(1047, 1181),
    ];

    /// Two bishops together.
    bishop_pair: Pair = s(30, 57);

    /// In sixteenths: the product of the numbers of two of our kinds of men, (pawn, pawn), (knight, pawn),
    /// (knight, knight), (bishop, pawn) and so on to (queen, queen).
    imbalance_own: [Pair; 15] = [
        s(5, 18), s(40, 49), s(-16, -24), s(38, 27), s(35, 34), s(8, 7), s(-6, 7),
        s(20, 29), s(38, 36), s(-1, -40), s(-4, 51), s(7, 26), s(-10, -2), s(17, 8),
        s(1, 12),
    ];

    /// In sixteenths: the number of our men of a kind times that of theirs of a cheaper one, (knight, pawn),
    /// (bishop, pawn), (bishop, knight) and so on to (queen, rook).
    imbalance_their: [Pair; 10] = [
        s(22, 14), s(31, 46), s(20, -10), s(3, -30), s(-9, -13), s(-43, -65), s(42, 85), s(3, 10),
        s(27, 51), s(-31, 14),
    ];

    /// The square of a pawn and of the king: from the own back rank, files a to d (e to h mirrored).
    squares: [[Pair; 32]; 2] = [
        [
            s(-8, 3), s(-2, 2), s(2, 0), s(8, -2),
            s(-8, -3), s(-3, -4), s(8, -6), s(-2, -11),
            s(-22, -4), s(-15, -5), s(-16, -8), s(-25, -7),
            s(4, 0), s(6, -1), s(3, -3), s(3, -10),
            s(13, 18), s(22, 14), s(11, 16), s(25, 4),
            s(-3, 23), s(16, 17), s(17, 14), s(35, 3),
            s(13, 10), s(18, 22), s(28, 28), s(46, 17),
            s(-8, 3), s(-2, 2), s(2, 0), s(8, -2),
        ],
        [
            s(52, -43), s(45, -23), s(32, -17), s(-15, -9),
            s(42, -14), s(27, -8), s(10, -2), s(-14, 2),
            s(-2, -10), s(-1, -7), s(-19, 8), s(-50, 16),
            s(-25, 0), s(-15, -5), s(-50, 17), s(-70, 18),
            s(-41, 9), s(-34, 7), s(-60, 22), s(-71, 24),
            s(-26, 2), s(-33, 21), s(-60, 38), s(-76, 35),
            s(-49, -13), s(-38, 8), s(-64, 29), s(-81, 19),
            s(-56, -48), s(-44, -11), s(-76, -6), s(-93, 1),
        ],
    ];

    /// The square of a knight, bishop, rook and queen, the board turned so that the own king stands on files e to h:
    /// from the own back rank, files a to h.
    squares_own_king: [[Pair; 64]; 4] = [
        [
            s(-38, -19), s(-19, -7), s(-19, -18), s(-12, 3), s(-12, 3), s(-19, -18), s(-19, -7), s(-38, -19),
            s(-12, -11), s(-2, -16), s(-8, -17), s(-13, -12), s(-13, -12), s(-8, -17), s(-2, -16), s(-12, -11),
            s(-4, -14), s(-12, -17), s(-12, -20), s(-8, -4), s(-8, -4), s(-12, -20), s(-12, -17), s(-4, -14),
            s(12, -5), s(10, -1), s(10, 0), s(5, 8), s(5, 8), s(10, 0), s(10, -1), s(12, -5),
            s(7, 8), s(6, 10), s(5, 12), s(19, 17), s(19, 17), s(5, 12), s(6, 10), s(7, 8),
            s(14, 1), s(23, 11), s(15, 9), s(28, 14), s(28, 14), s(15, 9), s(23, 11), s(14, 1),
            s(-8, 8), s(2, 5), s(20, 2), s(38, 10), s(38, 10), s(20, 2), s(2, 5), s(-8, 8),
            s(-109, -41), s(-35, -1), s(-43, 5), s(-11, 13), s(-11, 13), s(-43, 5), s(-35, -1), s(-109, -41),
        ],
        [
            s(-7, -18), s(22, -12), s(-9, -1), s(-4, -1), s(-4, -1), s(-9, -1), s(22, -12), s(-7, -18),
            s(8, -10), s(-5, -29), s(15, -13), s(-8, -1), s(-8, -1), s(15, -13), s(-5, -29), s(8, -10),
            s(4, -4), s(22, -7), s(-5, -11), s(14, 1), s(14, 1), s(-5, -11), s(22, -7), s(4, -4),
            s(14, -15), s(6, 3), s(14, 11), s(25, 8), s(25, 8), s(14, 11), s(6, 3), s(14, -15),
            s(-9, 8), s(5, 7), s(14, 5), s(19, 15), s(19, 15), s(14, 5), s(5, 7), s(-9, 8),
            s(14, 7), s(3, 15), s(-8, 11), s(25, 2), s(25, 2), s(-8, 11), s(3, 15), s(14, 7),
            s(6, 8), s(-8, 1), s(14, 13), s(1, 10), s(1, 10), s(14, 13), s(-8, 1), s(6, 8),
            s(-29, -6), s(-5, 17), s(-17, 9), s(-20, 8), s(-20, 8), s(-17, 9), s(-5, 17), s(-29, -6),
        ],
        [
            s(-18, -17), s(-9, -17), s(-9, -16), s(-5, -23), s(-5, -23), s(-9, -16), s(-9, -17), s(-18, -17),
            s(-18, -7), s(-5, -18), s(-5, -11), s(-7, -10), s(-7, -10), s(-5, -11), s(-5, -18), s(-18, -7),
            s(-11, 1), s(1, -1), s(-6, 11), s(-5, 1), s(-5, 1), s(-6, 11), s(1, -1), s(-11, 1),
            s(-14, 19), s(2, 10), s(-7, 17), s(-5, 17), s(-5, 17), s(-7, 17), s(2, 10), s(-14, 19),
            s(-11, 31), s(17, 25), s(5, 33), s(25, 18), s(25, 18), s(5, 33), s(17, 25), s(-11, 31),
            s(5, 22), s(23, 26), s(26, 23), s(26, 20), s(26, 20), s(26, 23), s(23, 26), s(5, 22),
            s(9, 7), s(9, 17), s(19, 13), s(14, 5), s(14, 5), s(19, 13), s(9, 17), s(9, 7),
            s(14, 25), s(26, 29), s(15, 30), s(3, 33), s(3, 33), s(15, 30), s(26, 29), s(14, 25),
        ],
        [
            s(2, -27), s(-6, -25), s(-9, -10), s(-8, 1), s(-8, 1), s(-9, -10), s(-6, -25), s(2, -27),
            s(-4, -27), s(4, -20), s(5, -19), s(3, 2), s(3, 2), s(5, -19), s(4, -20), s(-4, -27),
            s(14, -21), s(1, 12), s(11, 8), s(0, 19), s(0, 19), s(11, 8), s(1, 12), s(14, -21),
            s(7, 6), s(13, 6), s(0, 21), s(-6, 32), s(-6, 32), s(0, 21), s(13, 6), s(7, 6),
            s(10, 8), s(1, 26), s(4, 20), s(2, 27), s(2, 27), s(4, 20), s(1, 26), s(10, 8),
            s(-1, 4), s(11, 12), s(-4, 21), s(4, 28), s(4, 28), s(-4, 21), s(11, 12), s(-1, 4),
            s(-2, -1), s(4, 7), s(0, 9), s(2, 12), s(2, 12), s(0, 9), s(4, 7), s(-2, -1),
            s(0, -9), s(6, -3), s(-5, -6), s(2, -15), s(2, -15), s(-5, -6), s(6, -3), s(0, -9),
        ],
    ];

    /// The same, turned so that the enemy king stands on files e to h.
    squares_enemy_king: [[Pair; 64]; 4] = [
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
    ];

    /// An isolated pawn by folded file: unopposed, opposed.
    isolated: [[Pair; 4]; 2] = [
        [s(0, -16), s(-3, -19), s(-6, -19), s(-12, -18)],
        [s(3, -6), s(1, -9), s(-3, -7), s(2, -5)],
    ];

    /// A pawn behind another of its own: without support, with support.
    doubled: [Pair; 2] = [s(-3, -24), s(-23, -10)];

    /// A backward pawn by rank: unopposed, opposed.
    backward: [[Pair; 8]; 2] = [
        [
            s(-15, -17), s(-16, -16), s(-10, -11), s(-12, -12), s(-9, -18), s(-15, -17), s(-15, -17), s(-15, -17),
        ],
        [
            s(-7, -10), s(0, -14), s(6, -9), s(-11, -12), s(-34, 4), s(7, 10), s(-7, -10), s(-7, -10),
        ],
    ];

    /// A pawn with another beside it, by rank: unopposed, opposed.
    phalanx: [[Pair; 8]; 2] = [
        [
            s(0, 0), s(0, -1), s(14, -1), s(23, 10), s(35, 11), s(56, 61), s(87, 95), s(0, 0),
        ],
        [
            s(0, 0), s(6, -2), s(16, 1), s(11, 4), s(15, 4), s(36, 20), s(67, 48), s(0, 0),
        ],
    ];

    /// For each pawn that guards a pawn, by rank of the latter: unopposed, opposed.
    supported: [[Pair; 8]; 2] = [
        [
            s(0, 0), s(0, 0), s(21, 7), s(24, 7), s(26, 27), s(44, 45), s(83, 61), s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(22, 5), s(15, 5), s(11, 11), s(21, 8), s(45, 30), s(0, 0),
        ],
    ];

    /// A candidate passed pawn, by rank.
    candidate: [Pair; 8] = [
        s(0, 0), s(6, 0), s(0, 0), s(-7, 10), s(-4, 6), s(28, 48), s(0, 0), s(0, 0),
    ];

    /// A pawn that can take a pawn, by rank.
    lever: [Pair; 8] = [
        s(0, 0), s(-8, -8), s(-9, -9), s(4, 12), s(5, 11), s(9, 8), s(0, 0), s(0, 0),
    ];

    /// An unsupported pawn that two pawns can take.
    weak_lever: Pair = s(-5, 5);

    /// A pawn face to face with an enemy pawn, by rank.
    rammed: [Pair; 8] = [
        s(0, 0), s(-9, 1), s(0, 6), s(0, 0), s(0, -6), s(9, -1), s(0, 0), s(0, 0),
    ];

    /// For each group of neighbouring files with own pawns.
    island: Pair = s(0, 7);

    /// For each wing with more own than enemy pawns.
    majority: Pair = s(-4, -1);

    /// For each square of ours in the centre that no own pawn can ever guard.
    hole: Pair = s(0, -5);

    /// A passed pawn, by rank.
    passed: [Pair; 8] = [
        s(0, 0), s(-8, 8), s(-6, 10), s(0, 25), s(18, 44), s(63, 84), s(143, 133), s(0, 0),
    ];

    /// A passed pawn, by folded file.
    passed_file: [Pair; 4] = [s(-3, 7), s(-7, 5), s(-11, -1), s(-10, -7)];

    /// A passed pawn beside or guarded by another, by rank.
    passed_connected: [Pair; 8] = [
        s(0, 0), s(3, -4), s(4, 1), s(-1, 2), s(14, 4), s(26, -12), s(4, -17), s(0, 0),
    ];

    /// A passed pawn three files or more from all other pawns but its own neighbours.
    passed_outside: Pair = s(2, 8);

    /// By rank of the passed pawn and distance of the own king from the square before it.
    passed_own_king: [[Pair; 8]; 8] = [
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(4, -3), s(5, -3), s(2, 4), s(-8, 7), s(-9, 2), s(-11, 2), s(-2, -7), s(-11, -9),
        ],
        [
            s(-1, 2), s(4, 11), s(-1, 5), s(-12, -2), s(-2, -3), s(5, -6), s(-5, -14), s(-10, -13),
        ],
        [
            s(13, 33), s(27, 18), s(7, 3), s(-5, -4), s(-5, -11), s(-10, -17), s(2, -26), s(-20, -16),
        ],
        [
            s(9, 31), s(18, 22), s(23, -12), s(9, -18), s(-13, -20), s(-15, -26), s(-13, -29), s(-12, -27),
        ],
        [
            s(5, 20), s(10, 8), s(17, -15), s(10, -40), s(1, -45), s(2, -51), s(-21, -48), s(-12, -63),
        ],
        [
            s(5, 12), s(5, -10), s(12, -24), s(9, -50), s(14, -61), s(16, -83), s(8, -90), s(-24, -80),
        ],
        [
            s(0, 0), s(0, -23), s(0, -45), s(0, -68), s(0, -90), s(0, -113), s(0, -113), s(0, -113),
        ],
    ];

    /// By rank of the passed pawn and distance of the enemy king from the square before it.
    passed_enemy_king: [[Pair; 8]; 8] = [
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(-1, -2), s(-5, -2), s(-8, -1), s(3, -2), s(-3, 3), s(2, 1), s(-12, 0), s(-7, -9),
        ],
        [
            s(2, 0), s(-9, -2), s(-18, -6), s(-9, 4), s(2, -9), s(-10, 6), s(-2, 0), s(3, -7),
        ],
        [
            s(6, 3), s(-3, -8), s(-3, -8), s(0, 1), s(-10, 22), s(3, 30), s(0, 35), s(0, 19),
        ],
        [
            s(-25, 1), s(-7, -11), s(-7, 0), s(2, 18), s(3, 48), s(3, 58), s(-1, 62), s(-3, 53),
        ],
        [
            s(-35, -11), s(-2, -25), s(21, -1), s(-12, 57), s(1, 93), s(6, 99), s(-9, 93), s(21, 87),
        ],
        [
            s(-30, -19), s(9, -7), s(18, 31), s(10, 102), s(7, 114), s(8, 127), s(11, 139), s(1, 123),
        ],
        [
            s(0, 0), s(0, 37), s(0, 75), s(0, 112), s(0, 150), s(0, 187), s(0, 187), s(0, 187),
        ],
    ];

    /// Nothing stands on the path of a passed pawn, by rank.
    passed_free: [Pair; 8] = [
        s(0, 0), s(1, 2), s(-2, 0), s(-8, 3), s(6, 0), s(16, 19), s(28, 13), s(0, 0),
    ];

    /// The next square is not attacked, by rank.
    passed_safe_step: [Pair; 8] = [
        s(0, 0), s(7, 0), s(5, 5), s(12, 7), s(12, 8), s(12, 8), s(20, 40), s(0, 0),
    ];

    /// The whole path is not attacked, by rank.
    passed_safe_path: [Pair; 8] = [
        s(0, 0), s(-17, 23), s(-16, 22), s(-9, 34), s(15, 46), s(36, 87), s(45, 77), s(0, 0),
    ];

    /// The next square is defended, by rank.
    passed_supported: [Pair; 8] = [
        s(0, 0), s(5, 2), s(15, 3), s(8, 2), s(11, 20), s(28, 42), s(37, 69), s(0, 0),
    ];

    /// An enemy man stands before it, by rank.
    passed_blocked: [Pair; 8] = [
        s(0, 0), s(-10, 4), s(-1, 2), s(16, -5), s(7, -9), s(19, -11), s(-20, -18), s(0, 0),
    ];

    /// A rook behind an own passed pawn.
    passed_rook_behind: Pair = s(12, 5);

    /// An enemy rook behind a passed pawn.
    passed_enemy_rook_behind: Pair = s(-20, -31);

    /// A pawn that the bare king does not catch, by the moves that it needs.
    unstoppable: [Pair; 8] = [
        s(0, 420), s(0, 397), s(0, 378), s(-1, 324), s(-1, 295), s(0, 282), s(0, 275), s(0, 252),
    ];

    /// By the number of safe squares.
    knight_mobility: [Pair; 9] = [
        s(-37, -39), s(-24, -43), s(-7, -10), s(3, 2), s(12, 12), s(19, 20), s(24, 25), s(30, 27),
        s(37, 22),
    ];

    /// By the number of safe squares.
    bishop_mobility: [Pair; 14] = [
        s(-27, -45), s(-9, -28), s(9, -8), s(13, 7), s(19, 16), s(22, 23), s(24, 29), s(26, 29),
        s(25, 36), s(29, 35), s(34, 30), s(43, 31), s(41, 39), s(45, 16),
    ];

    /// By the number of safe squares.
    rook_mobility: [Pair; 15] = [
        s(-60, -75), s(-21, -35), s(1, -5), s(2, 18), s(4, 26), s(3, 39), s(6, 44),
        s(11, 45), s(13, 50), s(17, 56), s(16, 62), s(18, 67), s(21, 68), s(16, 75),
        s(23, 74),
    ];

    /// By the number of safe squares.
    queen_mobility: [Pair; 28] = [
        s(-49, -52), s(-31, -39), s(-10, -33), s(-1, -11), s(3, 4), s(6, 27), s(7, 29), s(10, 30),
        s(12, 36), s(13, 41), s(12, 49), s(14, 46), s(19, 48), s(16, 53), s(20, 43), s(25, 36),
        s(20, 36), s(18, 33), s(12, 41), s(16, 41), s(15, 40), s(21, 49), s(25, 54), s(24, 52),
        s(26, 57), s(28, 59), s(33, 66), s(36, 70),
    ];

    /// Steps to the own king: knight, bishop, rook, queen.
    own_king_distance: [[Pair; 8]; 4] = [
        [
            s(0, 0), s(9, 5), s(9, 0), s(0, -3), s(-10, -3), s(-8, -14), s(-18, -13), s(-29, -11),
        ],
        [
            s(0, 0), s(7, 2), s(2, -3), s(0, -6), s(2, -9), s(-3, -9), s(-11, -4), s(-20, 5),
        ],
        [
            s(0, 0), s(9, 12), s(7, 15), s(2, 18), s(0, 17), s(-3, 14), s(0, 16), s(2, 8),
        ],
        [
            s(0, 0), s(8, -15), s(3, 3), s(2, 14), s(-1, 18), s(0, 23), s(-4, 32), s(-1, 31),
        ],
    ];

    /// Steps to the enemy king: knight, bishop, rook, queen.
    enemy_king_distance: [[Pair; 8]; 4] = [
        [
            s(0, 0), s(39, 1), s(22, -2), s(19, 15), s(11, 18), s(5, 15), s(-1, 8), s(-2, -1),
        ],
        [
            s(0, 0), s(14, -9), s(29, -3), s(7, 7), s(2, 11), s(1, 9), s(5, 3), s(2, 3),
        ],
        [
            s(0, 0), s(-2, 10), s(12, -1), s(10, 10), s(7, 13), s(6, 15), s(3, 19), s(0, 21),
        ],
        [
            s(0, 0), s(0, 0), s(12, -5), s(14, 13), s(8, 19), s(0, 24), s(0, 12), s(-7, 15),
        ],
    ];

    /// Where no pawn can drive it off, guarded by a pawn: knight, bishop.
    outpost: [Pair; 2] = [s(14, 12), s(23, 19)];

    /// An outpost one move away: knight, bishop.
    reachable_outpost: [Pair; 2] = [s(20, 14), s(13, 6)];

    /// A pawn right before it: knight, bishop.
    minor_behind_pawn: [Pair; 2] = [s(8, 18), s(8, 12)];

    /// For each pair of pawns face to face: knight, bishop, rook, queen.
    closed: [Pair; 4] = [s(7, 14), s(1, 8), s(2, 4), s(-16, -3)];

    /// For each own pawn on the bishop's colour.
    bishop_pawn: Pair = s(-6, -5);

    /// For each of those, for each own pawn blocked in the centre.
    bishop_blocked_center: Pair = s(-1, -2);

    /// For each enemy pawn on the bishop's diagonals.
    bishop_xray: Pair = s(-6, -1);

    /// A bishop that sees both central squares of a long diagonal past the pawns.
    long_diagonal: Pair = s(22, 11);

    /// A bishop shut in by a pawn in a corner of the enemy camp.
    trapped_bishop: Pair = s(-92, -63);

    /// A rook on an open, a half open, a blocked file (the own pawn cannot move).
    rook_file: [Pair; 3] = [s(22, 7), s(12, -3), s(-11, 2)];

    /// A rook on the seventh rank with something to bite.
    rook_seventh: Pair = s(-10, 27);

    /// A rook shut in by its king; twice where he has lost the right to castle.
    trapped_rook: Pair = s(-21, -4);

    /// A queen in line with an enemy rook or bishop, one man between.
    queen_in_line: Pair = s(-19, -4);

    /// A queen in the enemy half where no pawn can ever drive her off.
    queen_infiltration: Pair = s(8, 21);

    /// A piece of ours that shields our king.
    pinned: Pair = s(31, 45);

    /// By folded file and rank of the nearest own pawn before the king; rank 0: none.
    shelter: [[Pair; 8]; 4] = [
        [
            s(6, 20), s(24, -22), s(30, -7), s(14, 5), s(21, 6), s(21, 24), s(42, 12), s(0, 0),
        ],
        [
            s(-17, 10), s(21, -11), s(2, -8), s(-6, 4), s(-2, -4), s(-2, 13), s(6, 6), s(0, 0),
        ],
        [
            s(7, 3), s(21, -7), s(6, 5), s(8, -2), s(7, 0), s(19, 1), s(8, 8), s(0, 0),
        ],
        [
            s(-5, 1), s(-5, 1), s(-2, -4), s(-9, 2), s(4, -9), s(-11, -1), s(-26, 13), s(0, 0),
        ],
    ];

    /// By folded file and rank (from the defender's side) of the nearest storming pawn; rank 0: none.
    storm: [[Pair; 8]; 4] = [
        [
            s(-19, -9), s(47, 13), s(9, 22), s(-38, 22), s(-20, 4), s(-9, -5), s(-7, -10), s(0, 0),
        ],
        [
            s(-13, -3), s(38, 29), s(-12, 30), s(-20, 19), s(-22, 9), s(-9, -2), s(-9, -8), s(0, 0),
        ],
        [
            s(1, -4), s(-4, 4), s(-29, 19), s(-27, 18), s(-5, 3), s(-5, -5), s(-2, -9), s(0, 0),
        ],
        [
            s(-13, 0), s(0, 12), s(-29, 11), s(-17, 8), s(-14, 2), s(-11, -3), s(-7, -3), s(0, 0),
        ],
    ];

    /// A storming pawn that stands right before a shelter pawn, by rank.
    storm_blocked: [Pair; 8] = [
        s(0, 0), s(0, 0), s(-17, -57), s(-4, -10), s(0, -14), s(-6, -12), s(2, -8), s(0, 0),
    ];

    /// A king on a file without own pawns.
    king_open_file: Pair = s(4, 0);

    /// Steps of the king to the nearest own pawn.
    king_pawn_distance: [Pair; 8] = [
        s(0, 0), s(2, -6), s(-2, -7), s(7, -19), s(11, -34), s(18, -44), s(8, -46), s(10, -46),
    ];

    /// Our pawns as our king sees them: files apart, ranks ahead of him (7 to 0 behind, then 1 to 7 ahead).
    king_own_pawn: [[Pair; 15]; 8] = [
        [
            s(0, 0), s(0, 2), s(4, 14), s(7, 20), s(20, 20), s(-1, 8), s(11, 10),
            s(0, 0), s(33, 6), s(22, 4), s(9, 3), s(2, 4), s(-6, 5), s(-2, 2),
            s(0, 0),
        ],
        [
            s(0, 0), s(1, 1), s(9, 12), s(10, 27), s(18, 24), s(5, 11), s(3, 7),
            s(22, 8), s(11, 2), s(1, 6), s(-5, 2), s(-4, -1), s(-2, -4), s(1, -9),
            s(0, 0),
        ],
        [
            s(0, 0), s(1, 3), s(5, 3), s(3, 18), s(14, 19), s(12, 7), s(4, 4),
            s(1, 2), s(7, 2), s(5, -5), s(-2, -10), s(2, -12), s(-2, -8), s(-19, -4),
            s(0, 0),
        ],
        [
            s(0, 0), s(3, -1), s(-1, 2), s(9, 18), s(14, 16), s(3, 7), s(-16, 6),
            s(-4, 1), s(7, -3), s(-5, -4), s(-11, -7), s(-10, -9), s(-5, -4), s(-13, 1),
            s(0, 0),
        ],
        [
            s(0, 0), s(-3, -4), s(2, 7), s(4, -5), s(2, 1), s(-4, 2), s(-2, 0),
            s(-12, 1), s(-15, -4), s(-14, -6), s(-15, -11), s(-6, -15), s(-7, -2), s(-11, 3),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(1, 0), s(2, 3), s(4, 2), s(-7, -1), s(-18, 4),
            s(-10, -9), s(-12, -4), s(-19, -8), s(-18, -7), s(-10, -13), s(-10, -9), s(4, 10),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -2), s(-1, -2), s(0, -13), s(-1, -3), s(-18, -6), s(1, -13),
            s(-9, -10), s(-7, -12), s(-15, -12), s(-19, -8), s(-14, -6), s(-14, -1), s(-2, 0),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -5), s(-1, -8), s(-1, 4), s(-13, 5), s(-8, -12), s(-2, -9),
            s(5, -12), s(3, -10), s(-7, -13), s(-6, -14), s(1, -15), s(-6, -1), s(11, 11),
            s(0, 0),
        ],
    ];

    /// Their pawns as our king sees them, likewise.
    king_enemy_pawn: [[Pair; 15]; 8] = [
        [
            s(0, 0), s(-1, -1), s(-1, -3), s(0, 0), s(1, 18), s(13, 27), s(31, 21),
            s(0, 0), s(40, -2), s(8, -11), s(6, 0), s(12, 2), s(12, 1), s(16, -1),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(1, 3), s(1, 1), s(8, 23), s(17, 23), s(11, 1),
            s(-1, 1), s(0, 0), s(-4, -8), s(-10, -3), s(-3, 1), s(1, 2), s(7, 1),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 1), s(3, 0), s(0, 3), s(7, 13), s(10, 5), s(11, -2),
            s(3, 14), s(5, 12), s(-1, -6), s(-1, -2), s(-3, 4), s(-3, -2), s(3, 1),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, -1), s(0, -1), s(4, 0), s(4, -2), s(4, 3), s(2, -6),
            s(16, 7), s(12, -1), s(3, 2), s(8, -5), s(4, -1), s(-1, 3), s(0, 6),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, -2), s(-1, -1), s(4, 5), s(3, 14), s(12, 1), s(12, 1),
            s(-2, 5), s(5, 4), s(3, 0), s(7, -3), s(2, 0), s(0, -3), s(4, 2),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 1), s(-1, -4), s(-4, -14), s(4, 4), s(11, 10), s(-2, -4),
            s(-10, 9), s(9, -1), s(-2, -1), s(-1, 2), s(-5, -1), s(-8, 0), s(-7, 0),
            s(0, 0),
        ],
        [
            s(0, 0), s(1, 1), s(0, -1), s(-1, -4), s(2, -11), s(5, -3), s(-12, 1),
            s(-1, 1), s(-8, -4), s(-16, 2), s(-7, 3), s(-11, -2), s(-14, -1), s(-4, -1),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(-1, -2), s(2, 0), s(0, 2), s(5, -6), s(2, -11),
            s(14, -8), s(-10, -4), s(-8, -2), s(-3, -7), s(-8, -4), s(-3, -7), s(-5, -7),
            s(0, 0),
        ],
    ];

    /// Danger units for each attacker of the ring, times the number of attackers: knight, bishop, rook, queen.
    danger_attacker: [Pair; 4] = [s(9, 19), s(5, 30), s(2, -3), s(-1, -5)];

    /// For each attack on a square next to the king.
    danger_hit: Pair = s(5, -2);

    /// For each ring square that they attack and only king or queen defend.
    danger_weak: Pair = s(13, -4);

    /// One safe check: knight, bishop, rook, queen.
    danger_safe_check: [Pair; 4] = [s(71, 42), s(55, 43), s(97, 58), s(60, 52)];

    /// Two safe checks or more, likewise.
    danger_safe_checks: [Pair; 4] = [s(101, 61), s(88, 50), s(137, 81), s(88, 72)];

    /// For each square of an unsafe check, likewise.
    danger_unsafe_check: [Pair; 4] = [s(10, 16), s(26, 18), s(25, 3), s(4, -6)];

    /// For each man that shields the king.
    danger_pinned: Pair = s(13, 13);

    /// The attackers have no queen.
    danger_no_queen: Pair = s(-128, -162);

    /// A knight of ours stands guard beside the king.
    danger_knight_guard: Pair = s(-4, -18);

    /// For each sixteen centipawns of the shelter's middlegame value.
    danger_shelter: Pair = s(-10, -1);

    /// For each attack on the king's flank in our camp.
    danger_flank_attack: Pair = s(8, 5);

    /// For each square of it that we defend.
    danger_flank_defence: Pair = s(-3, 5);

    /// No pawn is on the king's flank.
    danger_pawnless_flank: Pair = s(-13, -3);

    /// Always.
    danger_offset: Pair = s(10, -5);

    /// A knight or bishop attacks, by victim: pawn to queen.
    threat_by_minor: [Pair; 5] = [s(4, 18), s(27, 32), s(42, 24), s(67, 22), s(51, 33)];

    /// A rook attacks, likewise.
    threat_by_rook: [Pair; 5] = [s(3, 21), s(19, 31), s(27, 25), s(-13, 18), s(41, 25)];

    /// The king attacks a weak man.
    threat_by_king: Pair = s(19, 17);

    /// A safe pawn attacks, likewise.
    threat_by_pawn: [Pair; 5] = [s(0, 0), s(72, 28), s(54, 32), s(64, 13), s(44, 18)];

    /// A pawn will attack after one safe step, likewise.
    threat_by_push: [Pair; 5] = [s(0, 0), s(16, 20), s(16, 13), s(17, 13), s(16, 4)];

    /// Attacked and not defended, or attacked twice and defended once, likewise.
    hanging: [Pair; 5] = [s(21, 30), s(16, 19), s(9, 21), s(15, -6), s(-3, -11)];

    /// Attacked, and defended by the queen alone.
    guarded_by_queen: Pair = s(6, 10);

    /// Safe squares from which a knight would attack the queen.
    queen_hit_by_knight: Pair = s(10, -13);

    /// Safe squares from which a bishop or rook would attack the queen.
    queen_hit_by_slider: Pair = s(16, -1);

    /// Squares contested by us on which the opponent is restricted.
    restriction: Pair = s(4, -1);

    /// Safe squares in the own camp, twice behind pawns, times the men that share them, by sixteen.
    space: Pair = s(12, -15);

    /// For each passed pawn.
    initiative_passed: Pair = s(0, 5);

    /// For each pawn.
    initiative_pawn: Pair = s(0, -1);

    /// For each file that the kings are apart, less the ranks.
    initiative_outflanking: Pair = s(0, 1);

    /// Pawns on both wings.
    initiative_both_wings: Pair = s(0, 78);

    /// A king beyond the middle.
    initiative_infiltration: Pair = s(0, -17);

    /// No pieces are left.
    initiative_pawn_ending: Pair = s(0, 23);

    /// Always.
    initiative_offset: Pair = s(0, -57);

    /// The right to move.
    tempo: Pair = s(40, 19);
}
