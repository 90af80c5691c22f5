//! `Approved` cannot be had but from `Policy::check`.

#[test]
fn approved_is_sealed() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
