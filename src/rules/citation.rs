//! How a rule is named in events, refusals and documents.
//!
//! A rule is named by its instrument **and** its number: three numbering systems of the Queensland rules are in use at once.

/// A rule with the instrument that it stands in: "NZ Div 9 r7.2", "Qld 2004 sch 13 s19(1)(a)".
pub type Citation = &'static str;

/// Names a rule of Division 9 (Tai-Sai) of the rules of the New Zealand Department of Internal Affairs.
///
/// The published text has lost its paragraph letters; letters are given by position, as the Gazette prints them where it does.
macro_rules! nz_div_9 {
    ($rule:literal) => {
        concat!("NZ Div 9 ", $rule)
    };
}
pub(crate) use nz_div_9;

/// Names a section of schedule 13 (Two-up dice) of the Casino Gaming Rule 1999, inserted by SL 2004 No. 322.
macro_rules! qld_sch_13 {
    ($section:literal) => {
        concat!("Qld 2004 sch 13 ", $section)
    };
}
pub(crate) use qld_sch_13;

/// Names a section of part 21 (Triple penny two-up) of the Casino Gaming Rules 1985, inserted by SL 1998 No. 233.
macro_rules! qld_1998 {
    ($section:literal) => {
        concat!("Qld 1998 ", $section)
    };
}
pub(crate) use qld_1998;

/// Names a provision of the Casino Gaming Rules 1985 around SL 1995 No. 84: an old rule "r21.2(1)" or, as renumbered, "s77(1)".
macro_rules! qld_1995 {
    ($rule:literal) => {
        concat!("Qld 1995 ", $rule)
    };
}
pub(crate) use qld_1995;

/// Names another schedule of the Casino Gaming Rule 1999 as SL 2004 No. 322 amends it: "sch 10 s10(1)(a)(i)".
macro_rules! qld_2004 {
    ($section:literal) => {
        concat!("Qld 2004 ", $section)
    };
}
pub(crate) use qld_2004;
