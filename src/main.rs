use engram::{
    engine::Engine,
    position::Position,
    search::{Event, Limits},
    types::Depth,
};
use std::{io::BufRead, sync::Arc, time::Instant};
fn main() {
    let mut e = Engine::new(Arc::new(|ev| match ev {
        Event::Line(l) => {
            let pv: Vec<String> =
                l.pv.iter().map(|m| m.to_uci(shakmaty::CastlingMode::Standard).to_string()).collect();
            println!(
                "info depth {} seldepth {} score {} {:?} nodes {} nps {} time {} hf {} pv {}",
                l.depth.get(),
                l.seldepth,
                l.score.0,
                l.bound,
                l.nodes,
                l.nps(),
                l.time.as_millis(),
                l.hashfull,
                pv.join(" ")
            )
        }
        Event::Finished { best, .. } => {
            println!("bestmove {:?}", best.map(|m| m.to_uci(shakmaty::CastlingMode::Standard).to_string()))
        }
        ev => println!("{ev:?}"),
    }));
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (d, fen) = line.split_once(' ').unwrap();
        let fen: shakmaty::fen::Fen = fen.parse().unwrap();
        e.set_position(
            Position::from_setup(fen.into_setup(), shakmaty::CastlingMode::Standard).unwrap(),
            &[],
        )
        .unwrap();
        e.go(Limits { depth: Some(Depth(d.parse().unwrap())), ..Limits::default() }, Instant::now());
        e.wait();
    }
}
