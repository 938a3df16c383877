//! The list of codes.

use tablegate::table::rejection;

#[test]
fn the_first_list_is_as_the_page_has_it() {
    let listed = [1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 30, 31, 32, 33, 90];
    let _ = listed;
    let _ = std::any::type_name::<rejection::Rejection>();
}
