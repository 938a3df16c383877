//! Exact fractions. PURE.

/// An exact fraction in lowest terms. Arithmetic gives `None` when it doesn't fit into 128 bits, never a rounded value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    /// Nothing.
    pub const ZERO: Ratio = Ratio { over: 0, under: 1 };
    /// The whole.
    pub const ONE: Ratio = Ratio { over: 1, under: 1 };

    /// `over` / `under`; `None` when `under` is 0.
    #[must_use]
    pub fn new(over: i128, under: i128) -> Option<Ratio> {
        if under == 0 {
            return None;
        }
        let (mut a, mut b) = (over, under);
        while b != 0 {
            (a, b) = (b, a.checked_rem(b)?);
        }
        let common = a.checked_abs()?;
        // What stands below the line is positive, the sign stands above it.
        let sign = if under < 0 { -1 } else { 1 };
        Some(Ratio {
            over: over.checked_div(common)?.checked_mul(sign)?,
            under: under.checked_div(common)?.checked_mul(sign)?,
        })
    }

    /// What stands above the line; it has the sign.
    #[must_use]
    pub fn over(self) -> i128 {
        self.over
    }

    /// What stands below the line, 1 or more.
    #[must_use]
    pub fn under(self) -> i128 {
        self.under
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Ratio) -> Option<Ratio> {
        let left = self.over.checked_mul(other.under)?;
        let right = other.over.checked_mul(self.under)?;
        Ratio::new(left.checked_add(right)?, self.under.checked_mul(other.under)?)
    }

    /// The difference.
    #[must_use]
    pub fn minus(self, other: Ratio) -> Option<Ratio> {
        self.plus(Ratio {
            over: other.over.checked_neg()?,
            ..other
        })
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?)
    }

    /// The quotient; `None` when `other` is zero.
    #[must_use]
    pub fn divided_by(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(self.over.checked_mul(other.under)?, self.under.checked_mul(other.over)?)
    }

    /// With this many digits after the point, the last one rounded, halves away from zero; `None` when it doesn't fit.
    #[must_use]
    pub fn decimal(self, digits: u32) -> Option<String> {
        let scale = 10_u128.checked_pow(digits)?;
        let under = self.under.unsigned_abs();
        let scaled = self.over.unsigned_abs().checked_mul(scale)?;
        let rounded = scaled.checked_add(under / 2)? / under;
        let sign = if self.over < 0 && rounded > 0 { "-" } else { "" };
        let whole = rounded / scale;
        if digits == 0 {
            return Some(format!("{sign}{whole}"));
        }
        let width = usize::try_from(digits).ok()?;
        Some(format!("{sign}{whole}.{:0width$}", rounded % scale))
    }
}

impl std::fmt::Display for Ratio {
    /// "1/36", "-3/4"; a whole number stands alone.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.under == 1 {
            write!(f, "{}", self.over)
        } else {
            write!(f, "{}/{}", self.over, self.under)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(over: i128, under: i128) -> Ratio {
        Ratio::new(over, under).unwrap()
    }

    #[test]
    fn fractions_are_in_lowest_terms_with_the_sign_above() {
        for ((over, under), text) in [
            ((6, 216), "1/36"),
            ((-3, 4), "-3/4"),
            ((3, -4), "-3/4"),
            ((-6, -4), "3/2"),
            ((0, -7), "0"),
            ((14, 7), "2"),
        ] {
            assert_eq!(ratio(over, under).to_string(), text);
        }
        assert_eq!(Ratio::new(1, 0), None);
    }

    #[test]
    fn arithmetic_is_exact_or_refused() {
        let (a, b) = (ratio(5, 6), ratio(-3, 4));
        assert_eq!(a.plus(b), Ratio::new(1, 12));
        assert_eq!(a.minus(b), Ratio::new(19, 12));
        assert_eq!(a.times(b), Ratio::new(-5, 8));
        assert_eq!(a.divided_by(b), Ratio::new(-10, 9));
        assert_eq!(a.divided_by(Ratio::ZERO), None);
        let huge = ratio(i128::MAX, 1);
        assert_eq!(huge.plus(Ratio::ONE), None);
        assert_eq!(huge.times(huge), None);
        assert_eq!(Ratio::new(i128::MIN, -1), None);
    }

    #[test]
    fn decimals_are_rounded_halves_away_from_zero() {
        for (value, digits, text) in [
            (ratio(7041, 131_072), 9, "0.053718567"),
            (ratio(823, 1024), 9, "0.803710938"),
            (ratio(-3, 4), 9, "-0.750000000"),
            (ratio(-1, 4), 1, "-0.3"),
            (ratio(-1, 1000), 1, "0.0"),
            (ratio(5, 2), 0, "3"),
        ] {
            assert_eq!(value.decimal(digits).as_deref(), Some(text));
        }
    }
}
