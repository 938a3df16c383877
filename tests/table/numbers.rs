//! Seeds and the numbers that follow from them. Seeds are printed; `TABLEGATE_SEEDS=N` tries more of them,
//! `TABLEGATE_SEED=S` one again.

/// A small generator of numbers: xorshift64*.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    pub fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Tries each seed, or the one that is asked for.
pub fn seeds(usually: u64, run: impl Fn(u64)) {
    let all = match number("TABLEGATE_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("TABLEGATE_SEEDS").unwrap_or(usually),
    };
    for seed in all {
        println!("TABLEGATE_SEED={seed}");
        run(seed);
    }
}
