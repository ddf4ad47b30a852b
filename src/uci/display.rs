use std::fmt::{self, Display};

use shakmaty::{File, Rank, Square};

use crate::{position::Position, protocol::Command};

/// A position in readable form: board, FEN, key and checks.
pub(super) struct Diagram<'a>(pub &'a Position);

impl Display for Diagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EDGE: &str = "  +-----------------+";
        writeln!(f, "{EDGE}")?;
        for rank in Rank::ALL.into_iter().rev() {
            write!(f, "{} |", rank.char())?;
            for file in File::ALL {
                let piece = self.0.board().piece_at(Square::from_coords(file, rank));
                write!(f, " {}", piece.map_or('.', |piece| piece.char()))?;
            }
            writeln!(f, " |")?;
        }
        writeln!(f, "{EDGE}\n    a b c d e f g h\n")?;
        writeln!(f, "{} to move", self.0.turn().fold_wb("White", "Black"))?;
        writeln!(f, "Fen: {}", self.0.fen())?;
        write!(f, "Key: {:016X}", self.0.key().0)?;
        if self.0.in_check() {
            write!(f, "\nCheckers:")?;
            self.0.checkers().into_iter().try_for_each(|square| write!(f, " {square}"))?;
        }
        Ok(())
    }
}

/// What `help` prints.
pub(super) const HELP: &str = "Engram speaks UCI (the Universal Chess Interface): it is easiest to use from a chess GUI.\n\
     \n\
     uci                                  name and options\n\
     isready                              answers readyok when all is done\n\
     setoption name NAME value VALUE      e.g. setoption name Hash value 64\n\
     ucinewgame                           the next position is from another game\n\
     position startpos moves e2e4 e7e5    set up a position (or: position fen FEN moves …)\n\
     go                                   search; with any of\n\
     \x20 depth N  nodes N  movetime MS  mate N  infinite  ponder  searchmoves MOVE…\n\
     \x20 wtime MS  btime MS  winc MS  binc MS  movestogo N\n\
     stop                                 end the search, perft or bench\n\
     ponderhit                            the move pondered on was played\n\
     debug on|off                         report more about each search\n\
     d                                    show the position\n\
     eval                                 explain its evaluation\n\
     perft N                              count the positions N plies away\n\
     bench [N]                            search the bench positions to depth N\n\
     quit                                 end the program";

/// A command in words for `debug on`.
pub(super) fn received(command: &Command) -> String {
    let text = command.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("received: {}…", &text[..end]),
        None => format!("received: {text}"),
    }
}
