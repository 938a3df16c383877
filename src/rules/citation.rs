//! How a rule is named in events, refusals and documents.

/// A rule with the instrument that it stands in: "NZ Div 9 r7.2".
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
