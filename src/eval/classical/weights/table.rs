//! The weights of the evaluation, fitted to results and scores of games (benches/notes/evaluation.md, "Weights tuned").
//!
//! In internal units, `s(middlegame, endgame)`, for the side that has the feature; those of the king danger in
//! units whose square is the penalty. Ranks count from the own back rank, folded files from the edge.

weights! {
    /// The pieces by their average worth: pawn, knight, bishop, rook, queen.
    material: [Pair; 5] = [
        s(66, 107), s(347, 368), s(363, 388), s(485, 669), s(1058, 1233),
    ];

    /// Two bishops together.
    bishop_pair: Pair = s(28, 62);

    /// In sixteenths: the product of the numbers of two of our kinds of pieces, (pawn, pawn), (knight, pawn),
    /// (knight, knight), (bishop, pawn) and so on to (queen, queen).
    imbalance_own: [Pair; 15] = [
        s(13, 17), s(46, 72), s(-6, -24), s(50, 33), s(15, 32), s(4, 13), s(-9, 32),
        s(22, 50), s(35, 61), s(-2, -59), s(-18, 74), s(-19, 18), s(-29, -2), s(3, -12),
        s(-3, 22),
    ];

    /// In sixteenths: the number of our pieces of a kind times that of theirs of a cheaper one, (knight, pawn),
    /// (bishop, pawn), (bishop, knight) and so on to (queen, rook).
    imbalance_their: [Pair; 10] = [
        s(19, 30), s(28, 60), s(20, -30), s(8, -16), s(-13, -13), s(-43, -100), s(59, 149), s(24, 32),
        s(50, 87), s(-44, 40),
    ];

    /// The square of a pawn and of the king: from the own back rank, files a to d (e to h mirrored).
    squares: [[Pair; 32]; 2] = [
        [
            s(-8, 3), s(-2, 2), s(2, 0), s(8, -2),
            s(-5, -1), s(-2, -6), s(0, -9), s(-16, -14),
            s(-13, -3), s(-9, -4), s(-14, -6), s(-21, -12),
            s(3, 4), s(-5, 4), s(-4, 3), s(2, -6),
            s(14, 26), s(27, 15), s(13, 19), s(24, 11),
            s(-6, 27), s(18, 19), s(4, 15), s(28, 14),
            s(31, 9), s(25, 9), s(18, 26), s(29, 30),
            s(-8, 3), s(-2, 2), s(2, 0), s(8, -2),
        ],
        [
            s(71, -44), s(46, -21), s(18, -11), s(-28, -5),
            s(55, -13), s(38, -6), s(13, -2), s(-30, 5),
            s(11, -7), s(8, -1), s(-15, 7), s(-49, 16),
            s(-43, -6), s(-22, 3), s(-37, 13), s(-77, 20),
            s(-43, -6), s(-25, 12), s(-52, 14), s(-80, 23),
            s(-36, -1), s(-36, 20), s(-53, 7), s(-77, 26),
            s(-50, -20), s(-34, 7), s(-59, 31), s(-59, 26),
            s(-65, -93), s(-19, -18), s(-51, -9), s(-89, 27),
        ],
    ];

    /// The square of a knight, bishop, rook and queen, the board turned so that the own king stands on files e to h:
    /// from the own back rank, files a to h.
    squares_own_king: [[Pair; 64]; 4] = [
        [
            s(-32, -28), s(-22, 2), s(-14, -8), s(-20, 15), s(-8, -10), s(-24, -12), s(-27, -11), s(-38, -15),
            s(-12, -4), s(-9, -10), s(-4, -25), s(-11, -9), s(-10, -12), s(-8, -10), s(0, -23), s(-13, -9),
            s(-5, -8), s(-7, -18), s(-13, -9), s(-10, -2), s(-1, -5), s(-7, -23), s(-11, -19), s(-10, -13),
            s(14, -11), s(2, 0), s(13, 9), s(7, 7), s(5, 11), s(13, 0), s(14, 7), s(8, -10),
            s(15, 11), s(3, 12), s(-1, 8), s(26, 10), s(19, 18), s(16, 11), s(17, -1), s(-1, 5),
            s(2, 1), s(26, 2), s(9, -1), s(15, 25), s(25, 8), s(13, 13), s(16, 16), s(31, -7),
            s(-11, 5), s(-9, 20), s(16, 4), s(36, 5), s(36, -5), s(23, 5), s(13, 1), s(-11, 11),
            s(-129, -48), s(-31, 2), s(-40, 12), s(-29, 17), s(-8, 13), s(-61, 8), s(-31, -3), s(-117, -42),
        ],
        [
            s(9, -24), s(30, -15), s(-5, 1), s(-5, 1), s(-2, -4), s(-18, -3), s(12, -10), s(-15, -27),
            s(9, -17), s(-9, -21), s(15, -9), s(-10, 6), s(-4, -11), s(16, -10), s(8, -37), s(15, 3),
            s(3, -4), s(19, 0), s(-11, -4), s(11, 6), s(12, 1), s(7, -19), s(25, -12), s(7, -1),
            s(19, -5), s(9, 5), s(10, 8), s(21, 12), s(27, 2), s(16, 16), s(14, 0), s(5, -13),
            s(-15, 10), s(1, 9), s(8, 0), s(12, 16), s(12, 27), s(20, 12), s(4, 10), s(-4, 0),
            s(14, -3), s(-6, 12), s(-7, 2), s(14, 15), s(14, -4), s(-8, 21), s(20, 13), s(8, 16),
            s(-17, 17), s(-10, 0), s(-2, 12), s(1, 8), s(-3, 12), s(24, 26), s(-24, 12), s(23, -4),
            s(-12, 6), s(1, 14), s(-26, 6), s(-33, 5), s(-8, 7), s(-57, 24), s(-28, 23), s(-23, -17),
        ],
        [
            s(-11, -11), s(-5, -10), s(-4, -8), s(-3, -19), s(-2, -18), s(-10, -15), s(-14, -11), s(-21, -17),
            s(-24, 0), s(-8, -14), s(-6, -9), s(-4, -15), s(-17, -1), s(-8, -8), s(-9, -9), s(-18, -18),
            s(-12, 4), s(-15, 11), s(-4, 7), s(-16, 4), s(-5, 5), s(-12, 12), s(4, -7), s(-9, -5),
            s(-26, 27), s(4, 10), s(0, 17), s(-6, 12), s(-15, 25), s(-15, 17), s(-2, 20), s(1, 12),
            s(-16, 33), s(8, 30), s(2, 30), s(32, 9), s(7, 27), s(5, 33), s(3, 31), s(-5, 24),
            s(-3, 35), s(9, 25), s(37, 21), s(29, 13), s(22, 24), s(-5, 29), s(19, 28), s(14, 11),
            s(20, 11), s(12, 17), s(16, 12), s(27, 3), s(14, 15), s(18, 13), s(13, 19), s(15, 3),
            s(21, 25), s(20, 29), s(10, 25), s(13, 28), s(-11, 41), s(-2, 28), s(24, 25), s(20, 22),
        ],
        [
            s(12, -24), s(-1, -30), s(-7, -10), s(-7, -3), s(-7, -11), s(-14, -13), s(-19, -17), s(-13, -21),
            s(-3, -16), s(10, -28), s(5, -15), s(-3, 5), s(3, -1), s(5, -11), s(-6, -23), s(0, -42),
            s(11, -31), s(4, 11), s(9, -2), s(-2, 27), s(-8, 30), s(8, 25), s(1, 24), s(27, -12),
            s(8, 1), s(13, 20), s(-9, 24), s(-7, 29), s(-6, 34), s(6, 35), s(3, 14), s(7, 11),
            s(18, -12), s(-7, 32), s(6, 11), s(0, 18), s(-7, 44), s(16, 25), s(-2, 37), s(10, 0),
            s(-1, -3), s(0, 6), s(-2, 23), s(5, 30), s(10, 31), s(-3, 21), s(15, 23), s(5, 12),
            s(-5, -1), s(-9, 17), s(-6, 3), s(7, 22), s(11, 10), s(1, 32), s(18, 9), s(20, -1),
            s(8, 1), s(13, 5), s(12, -5), s(9, -16), s(19, -9), s(7, 1), s(11, 3), s(-6, -10),
        ],
    ];

    /// The same, turned so that the enemy king stands on files e to h.
    squares_enemy_king: [[Pair; 64]; 4] = [
        [
            s(10, 8), s(-5, 3), s(-1, 11), s(4, -7), s(-7, 7), s(-2, 4), s(-6, 1), s(-3, -14),
            s(-8, 21), s(-13, 4), s(-4, 5), s(2, 2), s(0, -3), s(9, -5), s(10, -5), s(6, -14),
            s(-5, 8), s(-2, 4), s(3, 3), s(2, 1), s(-1, 2), s(0, 8), s(7, -6), s(-1, -2),
            s(-2, 11), s(-8, 3), s(-1, -2), s(0, 4), s(1, -2), s(5, 8), s(5, 6), s(1, -19),
            s(-12, 8), s(7, -2), s(0, 1), s(4, -8), s(3, 3), s(3, -6), s(2, -7), s(10, -10),
            s(8, 1), s(3, -2), s(0, -2), s(-15, 9), s(1, -5), s(-13, -3), s(-7, 0), s(-3, -11),
            s(-2, 4), s(0, 8), s(0, 4), s(-3, -10), s(-2, -8), s(0, 0), s(0, 2), s(-3, -5),
            s(4, 37), s(13, 17), s(12, 9), s(-21, -3), s(3, 6), s(-26, 0), s(-6, -15), s(-31, -35),
        ],
        [
            s(8, -15), s(11, 4), s(-1, 1), s(-2, -2), s(2, 3), s(-5, 0), s(-13, -3), s(-4, 0),
            s(22, 13), s(15, -4), s(4, 3), s(5, -4), s(0, 3), s(-4, 4), s(-3, 2), s(-13, -4),
            s(4, 12), s(6, -2), s(8, -3), s(-2, 4), s(-1, 1), s(-7, 7), s(-7, 6), s(-3, -13),
            s(-5, 4), s(-3, 4), s(3, 4), s(-1, -3), s(-3, -1), s(-2, -2), s(12, -3), s(4, 8),
            s(2, 0), s(-1, 9), s(-10, 8), s(-5, 8), s(-8, 5), s(7, -7), s(-3, -2), s(-1, -6),
            s(-19, 12), s(4, -2), s(-7, 1), s(-18, -2), s(0, 4), s(9, -1), s(8, -5), s(13, -13),
            s(-13, 14), s(-5, 19), s(-11, 5), s(13, 8), s(-16, -6), s(2, 1), s(-14, -19), s(3, -18),
            s(-15, 13), s(3, 8), s(-1, 11), s(-1, 1), s(0, -6), s(-49, 0), s(-20, -6), s(35, -14),
        ],
        [
            s(1, 10), s(-9, 16), s(-5, 16), s(0, 10), s(6, -2), s(5, -4), s(10, -2), s(5, -5),
            s(-2, 6), s(-12, 13), s(-7, 15), s(-6, 8), s(0, -4), s(5, -9), s(2, 2), s(0, -9),
            s(-6, 6), s(-6, 12), s(-7, 4), s(1, 3), s(-11, 5), s(2, -9), s(-5, -7), s(6, -8),
            s(4, 5), s(-14, 21), s(0, 11), s(-5, 4), s(-11, -3), s(0, -9), s(10, -14), s(-6, -5),
            s(0, 5), s(-15, 14), s(0, 8), s(-10, 3), s(-5, -5), s(-2, -10), s(-8, -4), s(0, -10),
            s(-8, 8), s(-8, 10), s(-17, 7), s(-1, 3), s(-1, -12), s(1, -6), s(-10, -9), s(10, -6),
            s(-5, 3), s(4, -2), s(0, 0), s(8, 6), s(4, 0), s(-2, 2), s(1, 3), s(24, -8),
            s(13, -5), s(-7, 7), s(-7, 3), s(11, -4), s(-16, 6), s(-15, -9), s(1, -13), s(0, -1),
        ],
        [
            s(0, 2), s(-3, 9), s(-2, 9), s(2, -16), s(-1, 10), s(3, -10), s(1, -10), s(-2, 6),
            s(3, 19), s(-5, 12), s(-1, 3), s(0, -1), s(-5, 2), s(3, 10), s(4, -24), s(1, -23),
            s(10, -8), s(-6, 16), s(-7, 8), s(-6, 13), s(-6, 9), s(2, 2), s(13, -9), s(-1, 8),
            s(0, 15), s(-5, 1), s(-2, 16), s(-4, 0), s(6, -3), s(-4, -1), s(-3, 18), s(2, -16),
            s(5, 7), s(-1, 5), s(8, -3), s(-3, 1), s(-9, 11), s(3, -3), s(-9, 13), s(0, -33),
            s(1, 4), s(2, 8), s(-5, 5), s(1, 20), s(4, -16), s(12, -1), s(-9, -7), s(3, -5),
            s(2, 9), s(-1, 10), s(-10, 14), s(12, 5), s(2, 3), s(7, 3), s(1, 0), s(12, -13),
            s(7, -15), s(-6, 6), s(12, -3), s(11, -4), s(15, 9), s(18, 11), s(19, 7), s(-6, 25),
        ],
    ];

    /// An isolated pawn by folded file: unopposed, opposed.
    isolated: [[Pair; 4]; 2] = [
        [s(1, -19), s(-1, -23), s(-1, -24), s(-9, -17)],
        [s(5, -4), s(-2, -12), s(2, -8), s(1, -6)],
    ];

    /// A pawn behind another of its own: without support, with support.
    doubled: [Pair; 2] = [s(-1, -25), s(-16, -2)];

    /// A backward pawn by rank: unopposed, opposed.
    backward: [[Pair; 8]; 2] = [
        [
            s(-15, -17), s(-11, -13), s(-4, -17), s(-17, -19), s(3, -26), s(-15, -17), s(-15, -17), s(-15, -17),
        ],
        [
            s(-7, -10), s(2, -5), s(6, -9), s(-8, -13), s(-27, 8), s(0, 5), s(-7, -10), s(-7, -10),
        ],
    ];

    /// A pawn with another beside it, by rank: unopposed, opposed.
    phalanx: [[Pair; 8]; 2] = [
        [
            s(0, 0), s(9, -10), s(12, -1), s(14, 7), s(28, 7), s(47, 69), s(104, 114), s(0, 0),
        ],
        [
            s(0, 0), s(6, 1), s(11, 1), s(9, 4), s(17, 0), s(22, 11), s(67, 48), s(0, 0),
        ],
    ];

    /// For each pawn that guards a pawn, by rank of the latter: unopposed, opposed.
    supported: [[Pair; 8]; 2] = [
        [
            s(0, 0), s(0, 0), s(23, 6), s(23, 4), s(33, 18), s(69, 53), s(96, 78), s(0, 0),
        ],
        [
            s(0, 0), s(0, 0), s(15, 11), s(12, 11), s(12, 14), s(29, 6), s(45, 30), s(0, 0),
        ],
    ];

    /// A candidate passed pawn, by rank.
    candidate: [Pair; 8] = [
        s(0, 0), s(-1, 1), s(-2, 3), s(-3, 12), s(0, 2), s(28, 48), s(0, 0), s(0, 0),
    ];

    /// A pawn that can take a pawn, by rank.
    lever: [Pair; 8] = [
        s(0, 0), s(-11, 16), s(-3, -6), s(-1, 17), s(2, 12), s(16, -13), s(0, 0), s(0, 0),
    ];

    /// An unsupported pawn that two pawns can take.
    weak_lever: Pair = s(-6, 6);

    /// A pawn face to face with an enemy pawn, by rank.
    rammed: [Pair; 8] = [
        s(0, 0), s(-10, -3), s(1, 6), s(0, 0), s(-1, -6), s(10, 3), s(0, 0), s(0, 0),
    ];

    /// For each group of neighbouring files with own pawns.
    island: Pair = s(0, 6);

    /// For each wing with more own than enemy pawns.
    majority: Pair = s(-6, -2);

    /// For each square of ours in the centre that no own pawn can ever guard.
    hole: Pair = s(-5, -6);

    /// A passed pawn, by rank.
    passed: [Pair; 8] = [
        s(0, 0), s(-10, 12), s(-7, 11), s(2, 30), s(15, 51), s(60, 87), s(142, 130), s(0, 0),
    ];

    /// A passed pawn, by folded file.
    passed_file: [Pair; 4] = [s(-9, 9), s(-6, 14), s(-13, 5), s(-10, -9)];

    /// A passed pawn beside or guarded by another, by rank.
    passed_connected: [Pair; 8] = [
        s(0, 0), s(15, -22), s(11, -7), s(-2, 0), s(13, 2), s(14, -17), s(32, 8), s(0, 0),
    ];

    /// A passed pawn three files or more from all other pawns but its own neighbours.
    passed_outside: Pair = s(1, 8);

    /// By rank of the passed pawn and distance of the own king from the square before it.
    passed_own_king: [[Pair; 8]; 8] = [
        [
            s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
        ],
        [
            s(-3, -22), s(13, 3), s(-1, 3), s(-8, 12), s(-4, 6), s(-9, 6), s(-4, -2), s(-25, -4),
        ],
        [
            s(-10, 8), s(9, 19), s(-2, 2), s(-1, -5), s(0, 2), s(-7, 0), s(-13, -13), s(-17, -32),
        ],
        [
            s(12, 42), s(15, 33), s(4, 6), s(0, -7), s(-2, -15), s(-7, -14), s(-2, -18), s(-20, -20),
        ],
        [
            s(18, 73), s(30, 39), s(12, -7), s(-12, -20), s(-15, -20), s(-5, -32), s(-18, -42), s(-15, -34),
        ],
        [
            s(33, 90), s(28, 16), s(11, -15), s(1, -41), s(-21, -51), s(-15, -61), s(-20, -54), s(7, -58),
        ],
        [
            s(34, 82), s(11, -38), s(28, -21), s(14, -51), s(11, -87), s(10, -90), s(3, -87), s(-39, -84),
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
            s(-2, -4), s(-7, -2), s(-12, -6), s(-2, -3), s(-4, 5), s(2, 4), s(-16, 8), s(2, -11),
        ],
        [
            s(4, -7), s(-8, -6), s(-18, -3), s(-10, 1), s(0, -10), s(-8, 7), s(4, 3), s(-5, 7),
        ],
        [
            s(18, -11), s(12, -13), s(-1, -7), s(1, 1), s(1, 25), s(1, 40), s(1, 49), s(-31, 40),
        ],
        [
            s(-18, 5), s(-16, -11), s(-2, -11), s(-4, 20), s(6, 41), s(1, 68), s(1, 84), s(-3, 77),
        ],
        [
            s(-39, -7), s(-7, -35), s(18, -17), s(-2, 53), s(4, 98), s(-6, 118), s(-9, 115), s(5, 92),
        ],
        [
            s(-34, -20), s(10, -26), s(6, 5), s(5, 101), s(29, 128), s(18, 128), s(1, 153), s(0, 132),
        ],
        [
            s(0, 0), s(0, 37), s(0, 75), s(0, 112), s(0, 150), s(0, 187), s(0, 187), s(0, 187),
        ],
    ];

    /// Nothing stands on the path of a passed pawn, by rank.
    passed_free: [Pair; 8] = [
        s(0, 0), s(4, -1), s(1, 1), s(-2, 3), s(-1, 6), s(16, 21), s(32, 22), s(0, 0),
    ];

    /// The next square is not attacked, by rank.
    passed_safe_step: [Pair; 8] = [
        s(0, 0), s(6, -7), s(9, 1), s(10, 5), s(11, 5), s(4, 24), s(20, 40), s(0, 0),
    ];

    /// The whole path is not attacked, by rank.
    passed_safe_path: [Pair; 8] = [
        s(0, 0), s(-38, 21), s(-30, 20), s(-33, 40), s(2, 51), s(34, 112), s(86, 161), s(0, 0),
    ];

    /// The next square is defended, by rank.
    passed_supported: [Pair; 8] = [
        s(0, 0), s(9, 0), s(7, 4), s(9, -2), s(10, 20), s(24, 43), s(50, 103), s(0, 0),
    ];

    /// An enemy piece stands before it, by rank.
    passed_blocked: [Pair; 8] = [
        s(0, 0), s(3, 1), s(8, 5), s(3, -8), s(7, -14), s(19, -6), s(-19, -11), s(0, 0),
    ];

    /// A rook behind an own passed pawn.
    passed_rook_behind: Pair = s(3, 15);

    /// An enemy rook behind a passed pawn.
    passed_enemy_rook_behind: Pair = s(-29, -16);

    /// A pawn that the bare king does not catch, by the moves that it needs.
    unstoppable: [Pair; 8] = [
        s(0, 420), s(0, 399), s(0, 378), s(-3, 286), s(-2, 234), s(-2, 246), s(0, 273), s(0, 252),
    ];

    /// By the number of safe squares.
    knight_mobility: [Pair; 9] = [
        s(-28, -50), s(-22, -22), s(-8, -7), s(1, 6), s(11, 17), s(16, 23), s(23, 24), s(28, 24),
        s(37, 17),
    ];

    /// By the number of safe squares.
    bishop_mobility: [Pair; 14] = [
        s(-17, -50), s(-10, -26), s(5, -5), s(11, 9), s(17, 19), s(18, 28), s(22, 30), s(24, 34),
        s(23, 37), s(28, 34), s(30, 32), s(33, 29), s(58, 29), s(31, 29),
    ];

    /// By the number of safe squares.
    rook_mobility: [Pair; 15] = [
        s(-36, -84), s(-12, -22), s(1, 0), s(2, 19), s(4, 24), s(3, 42), s(6, 48),
        s(9, 47), s(7, 60), s(12, 64), s(11, 66), s(15, 71), s(15, 71), s(17, 74),
        s(24, 72),
    ];

    /// By the number of safe squares.
    queen_mobility: [Pair; 28] = [
        s(-32, -47), s(-33, -33), s(-15, -32), s(-2, 3), s(-1, 17), s(5, 24), s(7, 24), s(10, 32),
        s(11, 39), s(16, 45), s(14, 52), s(15, 60), s(21, 60), s(18, 61), s(20, 56), s(33, 40),
        s(26, 45), s(33, 33), s(22, 44), s(13, 38), s(16, 36), s(27, 64), s(31, 60), s(20, 45),
        s(22, 51), s(17, 46), s(32, 62), s(30, 61),
    ];

    /// Steps to the own king: knight, bishop, rook, queen.
    own_king_distance: [[Pair; 8]; 4] = [
        [
            s(0, 0), s(10, 10), s(6, 3), s(-3, -3), s(-11, -2), s(-10, -13), s(-20, -16), s(-24, -16),
        ],
        [
            s(0, 0), s(8, 9), s(-1, 1), s(-1, -3), s(-2, -7), s(-7, -8), s(-14, -3), s(-31, 8),
        ],
        [
            s(0, 0), s(7, 20), s(5, 21), s(4, 22), s(-1, 22), s(-1, 23), s(-5, 22), s(-2, 14),
        ],
        [
            s(0, 0), s(12, 3), s(6, 22), s(5, 22), s(1, 24), s(-2, 29), s(-11, 36), s(-4, 28),
        ],
    ];

    /// Steps to the enemy king: knight, bishop, rook, queen.
    enemy_king_distance: [[Pair; 8]; 4] = [
        [
            s(0, 0), s(29, -1), s(15, 5), s(13, 21), s(10, 18), s(5, 14), s(-1, 8), s(0, -3),
        ],
        [
            s(0, 0), s(4, -11), s(16, 6), s(9, 13), s(4, 12), s(5, 9), s(3, 6), s(-2, 6),
        ],
        [
            s(0, 0), s(5, 8), s(5, 10), s(2, 22), s(5, 23), s(3, 24), s(4, 21), s(-2, 18),
        ],
        [
            s(0, 0), s(0, 0), s(24, 23), s(20, 30), s(10, 28), s(-3, 33), s(-3, 15), s(-13, 5),
        ],
    ];

    /// Where no pawn can drive it off, guarded by a pawn: knight, bishop.
    outpost: [Pair; 2] = [s(12, 18), s(25, 13)];

    /// An outpost one move away: knight, bishop.
    reachable_outpost: [Pair; 2] = [s(17, 14), s(14, 2)];

    /// A pawn right before it: knight, bishop.
    minor_behind_pawn: [Pair; 2] = [s(5, 16), s(5, 5)];

    /// For each pair of pawns face to face: knight, bishop, rook, queen.
    closed: [Pair; 4] = [s(1, 15), s(-4, 7), s(3, -1), s(-44, -2)];

    /// For each own pawn on the bishop's colour.
    bishop_pawn: Pair = s(-5, -5);

    /// For each of those, for each own pawn blocked in the centre.
    bishop_blocked_center: Pair = s(-1, -1);

    /// For each enemy pawn on the bishop's diagonals.
    bishop_xray: Pair = s(-5, 1);

    /// A bishop that sees both central squares of a long diagonal past the pawns.
    long_diagonal: Pair = s(19, 14);

    /// A bishop shut in by a pawn in a corner of the enemy camp.
    trapped_bishop: Pair = s(-107, -35);

    /// A rook on an open, a half open, a blocked file (the own pawn cannot move).
    rook_file: [Pair; 3] = [s(28, 1), s(15, -1), s(-8, 3)];

    /// A rook on the seventh rank, if the king is on the eighth or pawns are on the seventh.
    rook_seventh: Pair = s(-11, 22);

    /// A rook shut in by its king; twice where he has lost the right to castle.
    trapped_rook: Pair = s(-14, 2);

    /// A queen in line with an enemy rook or bishop, one piece between.
    queen_in_line: Pair = s(-20, -3);

    /// A queen in the enemy half where no pawn can ever drive her off.
    queen_infiltration: Pair = s(12, 19);

    /// A piece of ours that shields our king.
    pinned: Pair = s(34, 49);

    /// By folded file and rank of the nearest own pawn before the king; rank 0: none.
    shelter: [[Pair; 8]; 4] = [
        [
            s(11, 16), s(25, -18), s(29, -7), s(21, -3), s(21, 7), s(25, 27), s(36, 29), s(0, 0),
        ],
        [
            s(-14, 7), s(16, -13), s(8, -8), s(-5, -2), s(-5, -1), s(-16, 20), s(8, 15), s(0, 0),
        ],
        [
            s(3, -1), s(19, -6), s(4, 3), s(12, -12), s(10, 1), s(29, 4), s(38, 46), s(0, 0),
        ],
        [
            s(-8, -4), s(-13, 9), s(-9, 2), s(-10, 1), s(-3, -12), s(-3, 4), s(7, 33), s(0, 0),
        ],
    ];

    /// By folded file and rank (from the defender's side) of the nearest storming pawn; rank 0: none.
    storm: [[Pair; 8]; 4] = [
        [
            s(-15, -19), s(50, -6), s(-16, 34), s(-35, 25), s(-8, -3), s(-11, -11), s(-11, -10), s(0, 0),
        ],
        [
            s(-11, -5), s(42, 55), s(-21, 23), s(-19, 15), s(-25, 6), s(-11, 0), s(-12, -4), s(0, 0),
        ],
        [
            s(-2, -6), s(9, -6), s(-45, 21), s(-18, 23), s(-8, 5), s(-6, 0), s(-3, -5), s(0, 0),
        ],
        [
            s(-5, 2), s(-15, 25), s(-29, 13), s(-24, 19), s(-11, 1), s(-12, 5), s(-4, -2), s(0, 0),
        ],
    ];

    /// A storming pawn that stands right before a shelter pawn, by rank.
    storm_blocked: [Pair; 8] = [
        s(0, 0), s(0, 0), s(-14, -52), s(-3, -18), s(-1, -10), s(-5, -17), s(4, -15), s(0, 0),
    ];

    /// A king on a file without own pawns.
    king_open_file: Pair = s(2, -1);

    /// Steps of the king to the nearest own pawn.
    king_pawn_distance: [Pair; 8] = [
        s(0, 0), s(6, 4), s(6, 1), s(13, -11), s(27, -23), s(7, -29), s(7, -33), s(10, -17),
    ];

    /// Our pawns as our king sees them: files apart, ranks ahead of him (7 to 0 behind, then 1 to 7 ahead).
    king_own_pawn: [[Pair; 15]; 8] = [
        [
            s(0, 0), s(0, -1), s(2, 28), s(9, 29), s(29, 37), s(25, 17), s(33, 13),
            s(0, 0), s(42, 7), s(34, 3), s(16, 4), s(-2, -6), s(-19, 0), s(2, 1),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -8), s(11, 24), s(22, 27), s(-3, 42), s(-18, 25), s(4, 11),
            s(20, 10), s(17, 2), s(7, 6), s(2, 1), s(-8, -5), s(-18, -15), s(-4, 0),
            s(0, 0),
        ],
        [
            s(0, 0), s(7, 5), s(6, 18), s(2, 28), s(13, 12), s(-3, 15), s(2, 11),
            s(7, 9), s(5, 4), s(9, -1), s(-3, -6), s(-4, -11), s(-15, -4), s(-40, 11),
            s(0, 0),
        ],
        [
            s(0, 0), s(2, -15), s(-14, 15), s(-2, 20), s(-3, 29), s(-34, 15), s(-21, 13),
            s(-8, 4), s(0, 3), s(-6, -7), s(-9, -12), s(-11, -9), s(-19, -9), s(-21, -15),
            s(0, 0),
        ],
        [
            s(0, 0), s(-8, -16), s(3, 8), s(6, 10), s(-6, 5), s(-13, 9), s(-9, 5),
            s(-20, 1), s(-17, 0), s(-10, -7), s(-12, -17), s(-12, -15), s(-10, -20), s(-27, -6),
            s(0, 0),
        ],
        [
            s(0, 0), s(2, -4), s(0, -7), s(2, 7), s(9, -7), s(-19, 2), s(-24, 5),
            s(-21, -6), s(-17, -6), s(-18, -11), s(-10, -16), s(-10, -15), s(-2, -22), s(18, -3),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -16), s(3, -7), s(8, 3), s(-7, 10), s(-39, 5), s(-3, -4),
            s(-16, -10), s(-16, -7), s(-17, -16), s(-14, -14), s(-18, -6), s(-6, -4), s(5, 5),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -7), s(3, 5), s(1, 17), s(1, 6), s(-7, 5), s(3, -13),
            s(5, -14), s(-8, -13), s(-12, -11), s(-3, -27), s(-5, -19), s(-8, -4), s(7, 7),
            s(0, 0),
        ],
    ];

    /// Their pawns as our king sees them, likewise.
    king_enemy_pawn: [[Pair; 15]; 8] = [
        [
            s(0, 0), s(-2, 2), s(-4, -15), s(-1, -7), s(-10, 23), s(33, 52), s(34, 34),
            s(0, 0), s(41, 6), s(12, -7), s(17, -7), s(15, -3), s(15, -3), s(20, -1),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, -1), s(-3, -1), s(12, 1), s(24, 8), s(-1, 43), s(6, 21),
            s(8, 4), s(0, 0), s(-9, -8), s(-3, -7), s(1, 0), s(4, 0), s(6, 1),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, 3), s(6, 0), s(-8, -5), s(2, 1), s(18, -10), s(5, 0),
            s(-11, 10), s(-4, 9), s(1, -5), s(2, -4), s(0, 2), s(-1, 0), s(1, 2),
            s(0, 0),
        ],
        [
            s(0, 0), s(-2, -9), s(-9, -26), s(5, -13), s(7, -27), s(-19, -16), s(-21, 0),
            s(17, -2), s(12, -5), s(6, -1), s(9, -4), s(2, -1), s(2, 0), s(0, 2),
            s(0, 0),
        ],
        [
            s(0, 0), s(-1, 4), s(-1, -8), s(4, -13), s(-3, -2), s(14, -7), s(27, -6),
            s(4, 3), s(8, 2), s(10, -3), s(4, -3), s(-4, 7), s(-3, 2), s(1, 7),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, -8), s(2, 3), s(8, 6), s(2, -21), s(12, 2), s(-8, -7),
            s(8, 15), s(21, -9), s(7, 0), s(-1, -1), s(-13, 5), s(-15, 10), s(-13, 9),
            s(0, 0),
        ],
        [
            s(0, 0), s(6, -1), s(3, 1), s(3, -2), s(4, -16), s(-6, -15), s(-14, -14),
            s(-9, -6), s(-1, -2), s(-13, -5), s(-9, 4), s(-13, 3), s(-16, 2), s(-12, 7),
            s(0, 0),
        ],
        [
            s(0, 0), s(0, -3), s(-5, -4), s(-1, -12), s(-5, -11), s(3, -15), s(-14, -29),
            s(25, -14), s(-11, -13), s(-4, -9), s(-3, -6), s(-8, -8), s(-8, -7), s(-11, -10),
            s(0, 0),
        ],
    ];

    /// Danger units for each attacker of the ring, times the number of attackers: knight, bishop, rook, queen.
    danger_attacker: [Pair; 4] = [s(7, 50), s(3, 39), s(3, 2), s(-1, -2)];

    /// For each attack on a square next to the king.
    danger_hit: Pair = s(5, 0);

    /// For each ring square that they attack and that is undefended, or defended once, by king or queen.
    danger_weak: Pair = s(14, -14);

    /// One safe check: knight, bishop, rook, queen.
    danger_safe_check: [Pair; 4] = [s(75, 58), s(49, 77), s(94, 68), s(58, 80)];

    /// Two safe checks or more, likewise.
    danger_safe_checks: [Pair; 4] = [s(91, 63), s(89, 49), s(144, 77), s(93, 79)];

    /// For each square of an unsafe check, likewise.
    danger_unsafe_check: [Pair; 4] = [s(12, 7), s(16, 5), s(21, 2), s(0, -8)];

    /// For each piece that shields the king.
    danger_pinned: Pair = s(11, 18);

    /// The attackers have no queen.
    danger_no_queen: Pair = s(-103, -157);

    /// A knight of ours guards a square next to the king.
    danger_knight_guard: Pair = s(0, -16);

    /// For each sixteen centipawns of the shelter's middlegame value.
    danger_shelter: Pair = s(-12, -13);

    /// For each attack on the king's flank in our camp.
    danger_flank_attack: Pair = s(6, 1);

    /// For each square of it that we defend.
    danger_flank_defence: Pair = s(-4, 4);

    /// No pawn is on the king's flank.
    danger_pawnless_flank: Pair = s(-61, -10);

    /// Always.
    danger_offset: Pair = s(20, 0);

    /// A knight or bishop attacks, by victim: pawn to queen.
    threat_by_minor: [Pair; 5] = [s(6, 17), s(27, 27), s(43, 28), s(70, 23), s(66, 16)];

    /// A rook attacks, likewise.
    threat_by_rook: [Pair; 5] = [s(3, 17), s(11, 28), s(27, 24), s(-8, 16), s(59, 11)];

    /// The king attacks a weak piece.
    threat_by_king: Pair = s(30, 9);

    /// A safe pawn attacks, likewise.
    threat_by_pawn: [Pair; 5] = [s(0, 0), s(81, 21), s(61, 43), s(74, 13), s(56, 14)];

    /// A pawn will attack after one safe step, likewise.
    threat_by_push: [Pair; 5] = [s(0, 0), s(18, 16), s(21, 14), s(16, 16), s(17, 9)];

    /// Attacked and not defended, or attacked twice and defended once, likewise.
    hanging: [Pair; 5] = [s(21, 30), s(24, 22), s(23, 24), s(22, -1), s(3, -24)];

    /// Attacked, and defended by the queen alone.
    guarded_by_queen: Pair = s(10, 7);

    /// Safe squares from which a knight would attack the queen.
    queen_hit_by_knight: Pair = s(12, -7);

    /// Safe squares from which a bishop or rook would attack the queen.
    queen_hit_by_slider: Pair = s(14, 6);

    /// Squares contested by us on which the opponent is restricted.
    restriction: Pair = s(4, 1);

    /// Safe squares in the own camp, twice behind pawns, times the pieces that share them, by sixteen.
    space: Pair = s(10, -12);

    /// For each passed pawn.
    initiative_passed: Pair = s(0, 3);

    /// For each pawn.
    initiative_pawn: Pair = s(0, 1);

    /// For each file that the kings are apart, less the ranks.
    initiative_outflanking: Pair = s(0, 1);

    /// Pawns on both wings.
    initiative_both_wings: Pair = s(0, 63);

    /// A king beyond the middle.
    initiative_infiltration: Pair = s(0, -6);

    /// No pieces are left.
    initiative_pawn_ending: Pair = s(0, 90);

    /// Always.
    initiative_offset: Pair = s(0, -67);

    /// The right to move.
    tempo: Pair = s(52, 25);
}
