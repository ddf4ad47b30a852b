//! The loop over the moves of a node: steps 12 to 19 of `node.rs`.

use shakmaty::Move;

use super::{
    extend::Singularity,
    filter::{Facts, Verdict, verdict},
    frame::Frame,
    history::MoveIndex,
    node::{Expect, Node, NodeKind, NonPv, Pv, Window},
    params::*,
    picker::{Picker, Want},
    worker::Worker,
};
use crate::{
    position::{CheckSquares, is_noisy},
    types::{Depth, PackedMove, Score},
};

impl Worker {
    /// Steps 12 to 19: the loop over the moves.
    pub fn search_moves<N: NodeKind>(&mut self, node: &mut Node) -> Best {
        let Node { position, ply, window, .. } = *node;
        let Window { mut alpha, beta } = window;
        let mut best = Best { score: -Score::INFINITE, m: None, searched: 0 };
        let checks = CheckSquares::new(position);
        let us = position.turn();
        let &Frame { killer, threats, .. } = self.frame(ply);
        let mut picker = Picker::new(Want::All, node.table_move, killer, ply);
        let mut quiets = Tried::new();
        let mut captures = Tried::new();

        while let Some(m) = picker.next(self, position) {
            if PackedMove::pack(m) == node.excluded || (N::ROOT && !self.is_root_candidate(m)) {
                continue;
            }
            best.searched += 1;
            let number = best.searched;
            if N::ROOT {
                self.announce(m, number);
            }
            let noisy = is_noisy(m);
            let gives_check = checks.gives_check(m);
            let mut score_of_history = if noisy {
                self.history.captures.get(us, m)
            } else {
                picker.history().unwrap_or_else(|| self.promise(position, ply).of(m))
            };

            // Steps 12 to 15. Pruning of single moves, once there is something to fall back on.
            let mut reduction = self.base_reduction(node.depth, number);
            if !N::ROOT && !best.score.is_loss() && position.has_pieces(us) {
                let exposed = threats.contains(m.to());
                let history = score_of_history;
                let facts = Facts { m, number, noisy, gives_check, exposed, history, reduction, alpha };
                match verdict(node, &facts) {
                    Verdict::Search => {}
                    Verdict::Skip => continue,
                    Verdict::SkipQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }

            // Step 16. Extensions. A move that alone holds the node together is searched deeper.
            let mut extension = 0;
            if !N::ROOT && Some(m) == node.table_move && ply.index() < 2 * self.root_depth.get() as usize {
                match self.singularity::<N>(node, m) {
                    Singularity::Extend(plies) => extension = plies,
                    Singularity::MultiCut(score) => {
                        best.score = score;
                        best.m = None;
                        return best;
                    }
                }
            }

            let nodes_before = self.nodes;
            let child = self.make(position, m, ply);
            let new_depth = node.depth + (extension - 1);
            let double = self.frame_before(ply, 1).double_extensions + u8::from(extension >= 2);
            let frame = self.frame_mut(ply);
            frame.double_extensions = double;
            frame.number = number;

            // Step 17. Late moves are searched to less depth, and again in full if they surprise.
            let mut score = -Score::INFINITE;
            let full_width = if node.depth >= 2 && number > 1 + usize::from(N::ROOT) {
                if noisy {
                    score_of_history *= 2;
                }
                reduction = self.adjusted_reduction::<N>(node, m, reduction, score_of_history, gives_check);
                let reduced = Depth(
                    (new_depth.get() - reduction / PLY).clamp(1, (new_depth.get() + i32::from(N::PV)).max(1)),
                );
                self.frame_mut(ply).reduction = reduction;
                score = -self.search::<NonPv>(
                    &child,
                    ply.next(),
                    Window::null(alpha).flip(),
                    reduced,
                    Expect::Cut,
                );
                self.frame_mut(ply).reduction = 0;
                if score > alpha && reduced < new_depth {
                    let deeper = i32::from(score > best.score + 45 + 2 * new_depth.get());
                    let shallower = i32::from(score < best.score + 9);
                    let again = new_depth + (deeper - shallower);
                    if again > reduced {
                        let flipped = Window::null(alpha).flip();
                        let expect = node.expect.flip();
                        self.path.rest_on_nothing();
                        score = -self.search::<NonPv>(&child, ply.next(), flipped, again, expect);
                    }
                    if !noisy {
                        let sign = if score > alpha { 1 } else { -1 };
                        let now = MoveIndex::new(us, m);
                        for back in [1, 2] {
                            let earlier = self.moved_before(ply, back);
                            self.history.continuation.update(earlier, now, sign * bonus(new_depth) / 2);
                        }
                    }
                }
                false
            } else {
                !N::PV || number > 1
            };
            // Step 18. A null window decides whether the move is better; a PV node then asks how much.
            if full_width {
                let flipped = Window::null(alpha).flip();
                score = -self.search::<NonPv>(&child, ply.next(), flipped, new_depth, node.expect.flip());
            }
            if N::PV && (number == 1 || score > alpha) {
                let flipped = Window { alpha, beta }.flip();
                self.path.rest_on_nothing();
                score = -self.search::<Pv>(&child, ply.next(), flipped, new_depth, Expect::All);
            }
            self.unmake();
            if self.stopped {
                return best;
            }

            // Step 19. New best move, new alpha, cutoff.
            if N::ROOT {
                self.record_root(m, score, Window { alpha, beta }, number, self.nodes - nodes_before);
            }
            if score > best.score {
                best.score = score;
                if score > alpha {
                    best.m = Some(m);
                    if N::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= beta {
                        self.path.rest_on_last_child();
                        let frame = self.frame_mut(ply);
                        frame.cutoffs = frame.cutoffs.saturating_add(1);
                        break;
                    }
                    alpha = score;
                    // The others are unlikely to beat it by enough to matter.
                    if node.depth > 2 && node.depth < 12 && !score.is_decisive() {
                        node.depth -= 1;
                    }
                }
            }
            let tried = if noisy { &mut captures } else { &mut quiets };
            if Some(m) != best.m {
                let _ = tried.try_push(m);
            }
        }
        if let Some(m) = best.m
            && best.score >= beta
        {
            self.learn_order(node, m, best.score, &quiets, &captures);
        }
        best
    }

    /// Rewards the move that cut, and takes from those tried before it.
    fn learn_order(&mut self, node: &Node, m: Move, score: Score, quiets: &Tried, captures: &Tried) {
        let (position, ply) = (node.position, node.ply);
        let us = position.turn();
        let surprise = i32::from(score > node.window.beta + surprise_margin());
        let bonus = bonus(node.depth + surprise);
        // The first move of the node before is refuted at once: its order was wrong.
        if self.frame_before(ply, 1).number == 1 {
            self.blame_reply(ply, bonus);
        }
        if is_noisy(m) {
            self.history.captures.update(us, m, bonus);
        } else {
            self.frame_mut(ply).killer = PackedMove::pack(m);
            self.reward_quiet(position, ply, m, bonus);
            for &other in quiets {
                self.reward_quiet(position, ply, other, -bonus);
            }
        }
        for &other in captures {
            self.history.captures.update(us, other, -bonus);
        }
    }
}

/// Moves searched before the best one.
type Tried = arrayvec::ArrayVec<Move, 32>;

/// The history bonus of a cutoff at `depth`.
pub fn bonus(depth: Depth) -> i32 {
    (history_base() + history_step() * depth.get()).clamp(0, history_bonus_max())
}

/// The outcome of the move loop.
pub struct Best {
    /// The best score found.
    pub score: Score,
    /// The move that raised alpha, if one did.
    pub m: Option<Move>,
    /// Moves looked at, pruned ones included.
    pub searched: usize,
}
