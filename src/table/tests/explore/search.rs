//! The search: every state that a table and its devices can come to within the bounds, each with the way that led to it.
//!
//! Acts of an alphabet are ordinary (they cost nothing) or deviations. All states of the fewest deviations are visited before
//! those of more, so that a bound of n deviations is exhaustive: every order of any number of ordinary acts with at most n others.

use super::form::Key16;
use super::law::{End, Law};
use super::machine::Machine;
use super::scene::Scene;
use super::world::{Act, World, is_of};
use crate::table::TableConfig;
use crate::table::input::DeviceKind;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::time::Instant;

/// A game as it is explored.
pub trait Game {
    type Law: Law;
    fn name(&self) -> &'static str;
    fn config(&self) -> TableConfig;
    fn law(&self) -> Self::Law;
    fn world(&self) -> World;
    /// What can happen.
    fn alphabet(&self) -> Vec<Act>;
    /// The order of play has it here, or it follows by itself; else it is a deviation.
    fn is_ordinary(&self, law: &Self::Law, world: &World, act: &Act) -> bool;
    /// Ways from a table that was started for the first time to the states that the search begins in.
    fn roots(&self) -> Vec<Vec<Act>>;
    /// What this crew would do next to bring the round to its end, most promising first; never a void once bets are open.
    fn way_out(&self, law: &Self::Law, world: &World, crew: Crew) -> Vec<Act>;
    /// The dealer alone must be able to end this round, should this device die.
    fn is_the_dealers(&self, law: &Self::Law, world: &World, dead: Option<DeviceKind>) -> bool;
}

/// Who is at the table, and which device is dead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Crew {
    pub dead: Option<DeviceKind>,
    pub supervisor: bool,
}

/// How far a search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Most deviations on the way to a state.
    pub deviations: u8,
    /// Most acts on the way from a root.
    pub depth: u16,
    /// States after which the search ends, unless it has ended before.
    pub states: usize,
}

/// What a search saw.
#[derive(Clone, PartialEq, Debug)]
pub struct Counts {
    pub game: &'static str,
    pub bounds: Bounds,
    pub states: usize,
    pub acts: usize,
    pub deepest: u16,
    /// States by their fewest deviations.
    pub by_deviations: Vec<usize>,
    /// Ends that were looked for, of rounds that run, with each device dead.
    pub ends: usize,
    /// Ways that were played again from the first event.
    pub replayed: usize,
    /// Every state within the other bounds was visited.
    pub exhausted: bool,
    pub seconds: f64,
}

/// Something that doesn't hold, and the way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub way: Vec<String>,
    pub what: String,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\nafter {} acts:", self.what, self.way.len())?;
        for (number, act) in self.way.iter().enumerate() {
            writeln!(f, "{:4}  {act}", number + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.exhausted {
            "all there are".to_string()
        } else {
            format!("the first {}", self.bounds.states)
        };
        write!(
            f,
            "{}: {} states ({bound}) with at most {} deviations {:?}, {} acts tried, deepest {} of {}, {} ends looked for, {} ways replayed, {:.1} s",
            self.game,
            self.states,
            self.bounds.deviations,
            self.by_deviations,
            self.acts,
            self.deepest,
            self.bounds.depth,
            self.ends,
            self.replayed,
            self.seconds
        )
    }
}

/// States that one search for an end may visit: more is no way that people would find.
const MOST_TRIED: usize = 600;
/// Acts that an end may take.
const LONGEST_END: usize = 40;
/// One way in so many is played again from its first event.
const REPLAY_EVERY: usize = 97;

#[derive(Clone, Copy)]
struct Node {
    /// The node that it was reached from; itself: a root.
    parent: u32,
    /// Place in the alphabet, or of the root.
    act: u16,
    depth: u16,
}

/// Nodes with their states, in the order in which they were reached.
type Queue<M, L> = VecDeque<(u32, Scene<M, L>)>;

struct Search<'a, G: Game, M> {
    game: &'a G,
    alphabet: Vec<Act>,
    roots: Vec<Vec<Act>>,
    nodes: Vec<Node>,
    /// Each state's fewest deviations, and its node.
    visited: HashMap<Key16, (u8, u32)>,
    /// States whose turn is to come, by deviations.
    waiting: Vec<Queue<M, G::Law>>,
    /// States from which an end is known, for each crew.
    ends: HashMap<Crew, HashSet<Key16>>,
    counts: Counts,
}

/// Visits every state within the bounds.
///
/// # Errors
///
/// The first thing that doesn't hold.
pub fn search<G: Game, M: Machine>(game: &G, machine: &M, bounds: Bounds) -> Result<Counts, Box<Found>> {
    let began = Instant::now();
    let mut search = Search {
        game,
        alphabet: game.alphabet(),
        roots: game.roots(),
        nodes: Vec::new(),
        visited: HashMap::new(),
        waiting: vec![VecDeque::new(); usize::from(bounds.deviations) + 1],
        ends: HashMap::new(),
        counts: Counts {
            game: game.name(),
            bounds,
            states: 0,
            acts: 0,
            deepest: 0,
            by_deviations: vec![0; usize::from(bounds.deviations) + 1],
            ends: 0,
            replayed: 0,
            exhausted: true,
            seconds: 0.0,
        },
    };
    search.begin(machine)?;
    search.run()?;
    search.replay(machine)?;
    search.counts.seconds = began.elapsed().as_secs_f64();
    Ok(search.counts)
}

impl<G: Game, M: Machine> Search<'_, G, M> {
    fn begin(&mut self, machine: &M) -> Result<(), Box<Found>> {
        let first = Scene::new(machine.clone(), self.game.law(), self.game.world());
        for (place, way) in self.roots.clone().into_iter().enumerate() {
            let mut scene = first.clone();
            // Lamps that show the next picture already don't follow: the act is left out.
            self.roots[place].clear();
            for act in &way {
                if !scene.world.allows(act) {
                    continue;
                }
                self.roots[place].push(act.clone());
                let next = scene.after(act);
                let wrong = next.fault.clone().map_or_else(|| next.check(&scene), Err);
                if let Err(what) = wrong {
                    let way = self.roots[place].iter().map(|act| format!("{act:?}")).collect();
                    return Err(Box::new(Found { way, what }));
                }
                scene = next;
            }
            let node = Node {
                parent: u32::try_from(self.nodes.len()).unwrap(),
                act: u16::try_from(place).unwrap(),
                depth: 0,
            };
            self.arrive(node, 0, scene, None)?;
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Box<Found>> {
        for level in 0..self.waiting.len() {
            while let Some((node, scene)) = self.waiting[level].pop_front() {
                let known = self.visited[&scene.key()];
                if known != (u8::try_from(level).unwrap(), node) {
                    // It was reached with fewer deviations meanwhile.
                    continue;
                }
                self.expand(level, node, &scene)?;
                if self.counts.states >= self.counts.bounds.states {
                    self.counts.exhausted = false;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn expand(&mut self, level: usize, node: u32, scene: &Scene<M, G::Law>) -> Result<(), Box<Found>> {
        let depth = self.nodes[usize::try_from(node).unwrap()].depth + 1;
        if depth > self.counts.bounds.depth {
            return Ok(());
        }
        for place in 0..self.alphabet.len() {
            let act = &self.alphabet[place];
            if !scene.world.allows(act) {
                continue;
            }
            let deviates = !self.game.is_ordinary(&scene.law, &scene.world, act);
            let level = level + usize::from(deviates);
            if level >= self.waiting.len() {
                continue;
            }
            let next = scene.after(act);
            self.counts.acts += 1;
            let step = Node {
                parent: node,
                act: u16::try_from(place).unwrap(),
                depth,
            };
            self.arrive(step, u8::try_from(level).unwrap(), next, Some(scene))?;
        }
        Ok(())
    }

    /// A state was reached: it is checked when it is new, and waits for its turn when it is new or nearer than it was.
    fn arrive(
        &mut self,
        step: Node,
        level: u8,
        scene: Scene<M, G::Law>,
        before: Option<&Scene<M, G::Law>>,
    ) -> Result<(), Box<Found>> {
        if let Some(what) = &scene.fault {
            return Err(self.found(step, what));
        }
        let key = scene.key();
        let node = u32::try_from(self.nodes.len()).unwrap();
        match self.visited.get(&key) {
            Some((known, _)) if *known <= level => return Ok(()),
            Some(_) => {}
            None => {
                self.counts.states += 1;
                self.counts.by_deviations[usize::from(level)] += 1;
                if let Some(before) = before {
                    scene.check(before).map_err(|what| self.found(step, &what))?;
                }
                self.nodes.push(step);
                self.ends(node, &scene)?;
                self.nodes.pop();
            }
        }
        self.nodes.push(step);
        self.visited.insert(key, (level, node));
        self.counts.deepest = self.counts.deepest.max(step.depth);
        self.waiting[usize::from(level)].push_back((node, scene));
        Ok(())
    }

    /// From here the people bring the round to its end, whichever device is dead.
    fn ends(&mut self, node: u32, scene: &Scene<M, G::Law>) -> Result<(), Box<Found>> {
        if !scene.law.is_running() {
            return Ok(());
        }
        let kinds = scene.world.kinds.iter().copied().map(Some);
        for dead in std::iter::once(None).chain(kinds) {
            let mut from = scene.clone();
            from.law.forget_end();
            let mut way = Vec::new();
            if let Some(kind) = dead.filter(|kind| scene.world.is_up(*kind)) {
                way.push(Act::Down(kind));
                from = from.after(&Act::Down(kind));
            }
            for supervisor in [false, true] {
                let crew = Crew { dead, supervisor };
                if !supervisor && !self.game.is_the_dealers(&scene.law, &scene.world, dead) {
                    continue;
                }
                self.counts.ends += 1;
                let mut tried = HashSet::new();
                match self.leads_out(&from, crew, &mut tried, &mut way) {
                    Ok(true) => {}
                    Ok(false) => {
                        let tried = tried.len();
                        let who = if supervisor { "the people" } else { "the dealer alone" };
                        let what = format!("no end of the round that {who} reach with {dead:?} dead, of {tried} tried");
                        let last = self.nodes[usize::try_from(node).unwrap()];
                        return Err(self.found(last, &what));
                    }
                    Err(what) => {
                        let last = self.nodes[usize::try_from(node).unwrap()];
                        let mut found = self.found(last, &what);
                        found.way.extend(way.iter().map(|act| format!("{act:?}")));
                        return Err(found);
                    }
                }
            }
        }
        Ok(())
    }

    fn leads_out(
        &mut self,
        scene: &Scene<M, G::Law>,
        crew: Crew,
        tried: &mut HashSet<Key16>,
        way: &mut Vec<Act>,
    ) -> Result<bool, String> {
        if let Some(what) = &scene.fault {
            return Err(what.clone());
        }
        match scene.law.end() {
            Some(End::Decided | End::VoidByPerson | End::VoidByGateway | End::Abandoned) => return Ok(true),
            None => {}
        }
        let key = scene.key();
        if self.ends.entry(crew).or_default().contains(&key) {
            return Ok(true);
        }
        if way.len() > LONGEST_END || tried.len() > MOST_TRIED || !tried.insert(key) {
            return Ok(false);
        }
        for act in self.game.way_out(&scene.law, &scene.world, crew) {
            let dead = crew.dead.is_some_and(|kind| is_of(&act, kind) || act == Act::Up(kind));
            if dead || !scene.world.allows(&act) {
                continue;
            }
            way.push(act.clone());
            if self.leads_out(&scene.after(&act), crew, tried, way)? {
                way.pop();
                self.ends.entry(crew).or_default().insert(key);
                return Ok(true);
            }
            way.pop();
        }
        Ok(false)
    }

    /// The acts that lead to a node, from the first start of the table.
    fn way(&self, last: Node) -> Vec<&Act> {
        let mut steps = Vec::new();
        let mut step = last;
        while step.depth > 0 {
            steps.push(&self.alphabet[usize::from(step.act)]);
            step = self.nodes[usize::try_from(step.parent).unwrap()];
        }
        let mut way: Vec<&Act> = self.roots[usize::from(step.act)].iter().collect();
        way.extend(steps.into_iter().rev());
        way
    }

    fn found(&self, last: Node, what: &str) -> Box<Found> {
        Box::new(Found {
            way: self.way(last).iter().map(|act| format!("{act:?}")).collect(),
            what: what.to_string(),
        })
    }

    /// Some ways are played once more, and their whole journals folded from the first event: the same state, live and folded.
    fn replay(&mut self, machine: &M) -> Result<(), Box<Found>> {
        let first = Scene::new(machine.clone(), self.game.law(), self.game.world());
        let reached: HashMap<u32, Key16> = self.visited.iter().map(|(key, (_, node))| (*node, *key)).collect();
        for place in (0..self.nodes.len()).step_by(REPLAY_EVERY) {
            let node = self.nodes[place];
            let Some(key) = reached.get(&u32::try_from(place).unwrap()) else {
                continue;
            };
            let mut scene = first.clone();
            let mut journal = scene.events.clone();
            for act in self.way(node) {
                scene = scene.after(act);
                journal.extend(scene.events.iter().cloned());
            }
            let mut folded = machine.without_history();
            journal.iter().for_each(|event| folded.apply(event));
            if folded.table().state != scene.machine.table().state {
                return Err(self.found(node, "folding every event from the first gives another state"));
            }
            // Roots of equal form are one state: the way of the other one was kept.
            if scene.key() != *key {
                return Err(self.found(node, "the same acts lead to another state"));
            }
            self.counts.replayed += 1;
        }
        Ok(())
    }
}
