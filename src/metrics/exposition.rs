//! The text format of Prometheus, version 0.0.4: `# HELP`, `# TYPE`, then the samples of each family.

use super::families::{Family, FamilyKind};
use std::fmt::{Display, Write};

/// The content type of what [`Exposition::finish`] returns.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page in the making.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

/// One label: its name and its value.
pub type Label<'a> = (&'a str, &'a str);

/// How many are at or below each end (in seconds), how many there are beyond the last, and what they come to.
#[derive(Debug)]
pub struct Histogram<'a> {
    /// What tells it from the others of its family.
    pub labels: &'a [Label<'a>],
    /// The ends, ascending, each with those between it and the one before.
    pub ends: Vec<(f64, u64)>,
    /// Those over the last end.
    pub beyond: u64,
    /// All together, seconds.
    pub sum: f64,
}

impl Exposition {
    /// The whole page.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// A family of one sample without labels.
    pub fn single(&mut self, family: &Family, value: impl Display) {
        self.begin(family);
        self.sample(family.name, &[], value);
    }

    /// A family with a sample for each label value.
    pub fn labelled<'a, V: Display>(
        &mut self,
        family: &Family,
        samples: impl IntoIterator<Item = (&'a [Label<'a>], V)>,
    ) {
        self.begin(family);
        for (labels, value) in samples {
            self.sample(family.name, labels, value);
        }
    }

    /// Histograms of one family.
    pub fn histograms<'a>(&mut self, family: &Family, histograms: impl IntoIterator<Item = Histogram<'a>>) {
        self.begin(family);
        let name = format!("{}_bucket", family.name);
        for of in histograms {
            let mut all = 0u64;
            let mut bucket = |page: &mut Exposition, end: &str, count: u64| {
                all = all.saturating_add(count);
                let labels = [of.labels, &[("le", end)]].concat();
                page.sample(&name, &labels, all);
            };
            for (end, count) in &of.ends {
                bucket(self, &end.to_string(), *count);
            }
            bucket(self, "+Inf", of.beyond);
            self.sample(&format!("{}_sum", family.name), of.labels, of.sum);
            self.sample(&format!("{}_count", family.name), of.labels, all);
        }
    }

    fn begin(&mut self, family: &Family) {
        let kind = match family.kind {
            FamilyKind::Counter => "counter",
            FamilyKind::Gauge => "gauge",
            FamilyKind::Histogram => "histogram",
        };
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a String can't fail.
        let _ = writeln!(self.text, "# HELP {0} {help}\n# TYPE {0} {kind}", family.name);
    }

    fn sample(&mut self, name: &str, labels: &[Label<'_>], value: impl Display) {
        self.text.push_str(name);
        for (index, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{value}\"");
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_a_histogram_is_cumulative() {
        let mut page = Exposition::default();
        let info = Family {
            name: "x_info",
            kind: FamilyKind::Gauge,
            help: "Back\\slash",
        };
        page.labelled(&info, [(&[("a", "say \"no\"\\\n"), ("b", "")][..], 1)]);
        let took = Family {
            name: "took_seconds",
            kind: FamilyKind::Histogram,
            help: "How long",
        };
        let of = |labels| Histogram {
            labels,
            ends: vec![(0.0005, 2), (5.0, 1)],
            beyond: 4,
            sum: 12.5,
        };
        page.histograms(&took, [of(&[]), of(&[("phase", "x")])]);
        assert_eq!(
            page.finish(),
            "# HELP x_info Back\\\\slash\n# TYPE x_info gauge\nx_info{a=\"say \\\"no\\\"\\\\\\n\",b=\"\"} 1\n\
             # HELP took_seconds How long\n# TYPE took_seconds histogram\n\
             took_seconds_bucket{le=\"0.0005\"} 2\ntook_seconds_bucket{le=\"5\"} 3\ntook_seconds_bucket{le=\"+Inf\"} 7\n\
             took_seconds_sum 12.5\ntook_seconds_count 7\n\
             took_seconds_bucket{phase=\"x\",le=\"0.0005\"} 2\ntook_seconds_bucket{phase=\"x\",le=\"5\"} 3\n\
             took_seconds_bucket{phase=\"x\",le=\"+Inf\"} 7\ntook_seconds_sum{phase=\"x\"} 12.5\ntook_seconds_count{phase=\"x\"} 7\n"
        );
    }
}
